"""What skills together let an agent do: the merged set of seed 002, and the policy that each call is judged by."""

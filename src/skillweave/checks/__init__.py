"""What is wrong with skills, beside what loading finds: triggers, texts, links, relations, rules, contracts, graph."""

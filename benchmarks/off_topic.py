"""Messages that call for no skill of an ordinary library: small talk, general knowledge, pasted text; all our own."""

SHORT = """\
What is 2+2?
Calculate pi
Hello
hi there!
Good morning, how are you?
thanks, that helped a lot
ok
yes please
no, leave it
Can you repeat that?
Tell me a joke about penguins
What's the capital of Portugal?
Who won the world cup in 1998?
How tall is Mount Everest?
What time is it in Tokyo?
I'm feeling a bit tired today
Translate "good night" into Italian
Sing me a lullaby
What should I cook for dinner tonight?
My cat won't eat her food
Is it going to rain tomorrow?
Recommend a good science fiction novel
How do I get a red wine stain out of a carpet?
What's the difference between a crocodile and an alligator?
Why is the sky blue?
Convert 10 miles to kilometres
What is the square root of 144?
Explain the rules of chess to a child
Write a birthday wish for my grandmother
How many days are there until Christmas?
What does the word serendipity mean?
Remind me what we talked about before
Let's continue
Go on
That is not what I meant
Sorry, wrong window
Who are you?
What do you think about love?
Name three rivers in France
Spell the word rhythm
How long should I boil an egg?
Which planet is closest to the sun?
Give me a synonym for happy
I had a fight with my brother yesterday
Do you like music?
What is the meaning of life?
Play some jazz
How old was Mozart when he died?
Pick a random number between one and ten
Flip a coin
What colour do you get from mixing blue and yellow?
My train is late again
Describe the smell of rain
How can I fall asleep faster?
What is the population of Iceland?
Suggest a name for a puppy
Say something nice
Are whales mammals?
Which is better, tea or coffee?
I lost my keys somewhere in the house
Should I take the bus or walk to the station?
What year did the Berlin Wall fall?
Stop
Wait a second, someone is at the door
What is the chemical symbol for gold?
Wie spät ist es?
¿Qué tal estás hoy?
Merci beaucoup pour votre aide
今天天气怎么样
Как дела?
""".splitlines()

_LONG = """\
We drove up to the lake on Friday evening and the car broke down twice on the way. My father kept saying that the
engine only needed a rest, so we sat by the road and ate the sandwiches that were meant for Saturday. When we arrived
it was dark, the key did not fit, and my sister had to climb through the kitchen window. In the morning the water was
as flat as glass. I would not have missed it for anything.

Dear Aunt Rosa, thank you so much for the scarf and for the long letter. The children read it aloud at breakfast and
laughed about the goat. We are all well here. Paul has started at the new school and already knows half the street;
Mia has lost her two front teeth and whistles when she speaks. Please tell Uncle Leo that the plums arrived whole,
every one of them. We hope to come in August, if the roof is finished by then. With love, Ines

The old harbour was built in three stages over about two hundred years. At first there was only a wooden pier for
fishing boats. Later the town council paid for a stone wall against the winter storms, and the merchants added
warehouses along the quay. After the railway came the trade moved away, the basin silted up, and what had been the
busiest place on the coast became a quiet spot for painters and gulls.

Peel the onions and cut them into thin rings. Warm the butter in a heavy pot, add the onions with a pinch of salt and
let them turn golden, which takes a good half hour; do not hurry. Sprinkle with flour, stir, pour in the wine and then
the broth. Let it simmer while you toast the bread. Fill the bowls, lay the bread on top, cover with cheese and brown
it under a hot grill until it bubbles.

I have been thinking about what you said the other night, that people only ever regret the things they did not do. I
am not sure that is true. I regret selling the piano. I regret shouting at Tom in the car park. But I also know what
you mean: there was that summer when I could have stayed in Lisbon, and I went home because it seemed the sensible
thing, and nobody remembers now why it seemed so.

Rules for the allotment: water before nine in the morning or after six in the evening. No bonfires between May and
September. Dogs stay on the lead. Whoever borrows the wheelbarrow brings it back clean, the same day. Compost goes in
the left bin, branches in the right one, and nothing cooked in either. The gate is locked at ten. Complaints about the
hedge go to Mrs Okafor, not to the treasurer.

The second half started slowly. Neither side dared to come forward, and the crowd began to sing to keep warm. Then a
long ball over the top, a slip by the left back, and suddenly the striker was alone in front of the keeper. He took
one touch too many. Five minutes later the same thing at the other end, only this time the shot went in off the post.
One nil, and that was how it stayed, in spite of eight corners.

She put the lamp down and listened. There it was again: three knocks, a pause, two knocks. The house had been empty
for a year, everyone in the village said so. The dog had crept under the table and would not come out. She took the
poker from the fireplace, counted to five, and pulled the door open. On the step stood a very small boy with a very
large suitcase. 'I think,' he said, 'that you must be my grandmother.'
"""

MESSAGES = SHORT + [" ".join(text.split()) for text in _LONG.split("\n\n")]

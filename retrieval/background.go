package retrieval

import "slices"

// background are texts of a working day that ask for no rule: what cosines and
// words are worth that mean nothing is measured on them. They are disjoint from
// every judged query.
var background = []string{
	"good evening, did you sleep well", "thank you very much, see you next week", "yes", "go on please", "try that once more",
	"what did we talk about before lunch", "summarise this conversation in three lines", "could you say that in simpler words",
	"that is not what I meant", "nice work, let us stop here for today", "are you still there", "what can you do for me",
	"which model are you and when were you trained", "answer in Italian from now on", "be shorter next time",
	"how do I bake a chocolate cake without butter", "a stew with lentils for six guests", "how much water does rice need",
	"which wine goes with grilled fish", "my tomato plants have yellow leaves", "when should roses be cut back",
	"a gift for my father's seventieth birthday", "name ideas for a small brown dog", "how do I get rid of ants in the kitchen",
	"the washing machine leaks at the door", "how often should a car's tyres be rotated", "is it cheaper to heat with gas or wood",
	"which trains go from Vienna to Venice at night", "what to see in Kyoto in two days", "do I need a visa for Brazil",
	"how long is the flight from Oslo to Boston", "who painted the night watch", "what happened in the year 1848",
	"why is the sky red in the evening", "how far away is the moon", "what do penguins eat", "how many legs does a crab have",
	"explain how a vaccine works to a child", "exercises for a stiff neck", "how many hours should a teenager sleep",
	"what is a good marathon time for a beginner", "who plays in the cup final on Saturday", "rules of chess for beginners",
	"learn the guitar at forty", "films like the one with the spinning top", "a short poem about the sea",
	"translate good luck into Greek", "is there a word for fear of heights", "a polite letter to the landlord about noise",
	"how do I ask my boss for a raise", "interview questions for a nurse", "what does a notary earn",
	"best laptop for students under 800", "which phone has the best camera", "is a standing desk worth the money",
	"what colour should the new logo have", "who invented the telephone", "history of the company that made the first computer mouse",
	"books about famous programmers", "is artificial intelligence going to take our jobs", "what is your favourite programming language",
	"how do I become a game designer", "how late is it in Tokyo", "set an alarm for half past six",
	"which line is that on", "show me the last ten lines", "where is this function used",
	"what does this variable hold", "which branch am I on", "open the settings page", "clear the screen", "restart it",
	"how many lines does this file have", "who wrote this part", "print the current folder",
	"rename it to something shorter", "add a blank line at the end", "put the picture on the right",
	"make the title larger", "a lighter shade of grey for the border", "round the corners of the card",
	"swap the two paragraphs", "use single quotes everywhere", "the second one, please", "do the same for the footer",
	"copy that to the clipboard", "is that all", "where were we", "sum it up in one sentence",
	"how long will that take", "close the other tabs", "not now, maybe later", "wait for me",
	"I have a meeting in five minutes", "back after lunch", "you are right, sorry", "that did not help", "start over",
	"what did you just do", "give me an example", "say it in French", "two tickets for Saturday evening",
	"remind me to call mum at six", "a playlist for a long drive", "what rhymes with orange", "how old is this house",
	"directions to the airport", "the bus is late again", "a quick dinner for two", "how do I fold a paper plane",
	"which bin do batteries go in", "my knee hurts when I climb stairs", "how much is 30 euros in yen",
	"three facts about otters", "convert miles to kilometres", "install the editor on my laptop",
	"what does this abbreviation mean", "explain that function to me", "list the files in this folder",
	"move this paragraph to the top", "download the picture again", "turn the page into a slide",
	"draw a box around it", "which key closes the window",
}

// BackgroundTexts are texts that every index with vectors embeds, beside those of
// its documents.
func BackgroundTexts() []string { return slices.Clone(background) }

package retrieval

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
}

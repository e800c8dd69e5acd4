// Package classify is the classifier that decides where no model is configured:
// whether a short text is worth keeping, with the evidence for it.
//
// It is a logistic regression over hashed words, pairs of words, parts of words
// and a few signs (a cause, a rule, a narration, a question), trained offline on
// testdata/train.jsonl and measured on testdata/heldout.jsonl; MODEL_CARD.md
// says how well. The model is a table of 8-bit weights in the program.
//
// Guaranteed:
//
//   - The same text has the same verdict everywhere: no clock, no randomness, no
//     network, and sums of integers until the last step. TestSameEverywhere.
//   - The committed model is what the committed data trains to, and its card
//     says what it measures. TestModelIsTrainedFromItsData, TestModelCard.
//   - Any bytes get a verdict, a confidence in 0..1 and a reason of at most 120
//     characters. FuzzClassify.
//
// Not here: the gate's grammar and its fallbacks (package observation), the
// extraction of sentences from transcripts, and models that are asked over a
// network (package model).
package classify

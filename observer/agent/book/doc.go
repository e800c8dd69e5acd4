// Package book is what agents keep across conversations: a book holds notes and
// entries, tasks, or lessons. [Evolve] folds its events into a [State], and
// [Decide] answers an event that somebody wants with what is to be recorded. Both
// are pure; the same state and the same wish give the same decision.
//
// A book may be long, and most changes look at one item of it. So a State may be
// the part of a book that [Touches] names: a decision on the part is the decision
// on the whole, and a view folds the part and stores the difference.
//
// What holds of every state is listed at State. What holds of every state that
// decisions led to, besides:
//
//  5. A number is given once, even after its item was taken out, and by writers
//     that decide at the same time: each expects the Seq that it decided on, and
//     decides anew where another one was first. TestModel, and in package agent
//     TestNumbersAreGivenOnce and TestTheOvertakenDecideAnew.
//  6. Both ends of a link are entries of the book, and no entry is ever taken
//     out; notes leave all together. TestModel.
//  7. No two lessons say the same but for their blanks. TestModel.
//  8. A decision records one event or none, and a refusal records none. What is
//     not there is neither changed nor taken out. TestModel, TestRefusals.
//
// Not here: the log, the commands that agents write, and how items are shown and
// found.
package book

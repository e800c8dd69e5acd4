// Package verbs is what the handlers of the command language have in common:
// a Call that may run, the Result that comes of it, and the Handler between.
//
// The dispatcher scans a response, asks the grant, the taint and the budgets, and
// hands what is left to the handler of its verb; it then numbers images, keeps
// artifacts, frames and cuts the results. So a handler
//
//   - is called only for what is granted, within budget, and confirmed where that
//     was needed; what it can only learn by running (the address behind a name, a
//     path's links, the write gate) it checks itself;
//   - answers with a Result whatever the agent got wrong: an error of Handle is
//     Writ's own failure, and the dispatcher says so to the agent in its own words;
//   - labels all text that Writ did not write with where it came from;
//   - observes its context, and leaves nothing running or half-written when that
//     ends.
//
// Not here: which verbs there are and which an agent may use (enforcement/dialect),
// what they do (the packages beside this one), events.
package verbs

// Package whatif runs what the log recorded once more under other settings, and
// says what would have come out: tool requests under another policy of the
// project, prompts over another corpus or with other weights.
//
// It guarantees: it only reads; the same records and changes give the same
// report, but for the times that searches took; and a decision counts as run
// again only where the settings of today give the recorded verdict from what
// the log holds. The others are counted with the reason.
//
// What cannot be run again, and is therefore reported as such or left as it
// was: what depends on the contents of files or of the tool's input, which the
// log holds as hashes (secrets found, plans judged, lists of tasks); what the
// log does not say (whether a file was another before the decision, how
// symbolic links led); rules brought up by a write, whose text is not recorded;
// and what agent and user would have done after another answer. So each
// decision is judged by itself, on the session as it was.
package whatif

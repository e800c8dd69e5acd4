package schemas

// SvcView is the admin's. Persisted; never change.
const SvcView = "writ.svc.view" // ViewRequest → ViewReply

// ViewRequest asks to compare one view with what the log makes of it, or to
// build it anew.
type ViewRequest struct {
	View    string `json:"view"`
	Rebuild bool   `json:"rebuild,omitempty"`
}

// ViewReply is the view after that.
type ViewReply struct {
	View       string          `json:"view"`
	Difference *ViewDifference `json:"difference,omitempty"` // the first, nil where there is none
}

// ViewDifference is a key in which a view is not what the log makes of it. Keys
// and values are Go syntax; of the values it is what they do not have in common
// that is shown.
type ViewDifference struct {
	Key   string `json:"key"`
	Held  string `json:"held,omitempty"`  // "" where the view lacks the key
	Built string `json:"built,omitempty"` // "" where the log makes no such key
}

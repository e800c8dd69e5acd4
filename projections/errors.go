package projections

import "errors"

var (
	// ErrNoEvent is wrapped by Log.IDAt where a sequence holds no record.
	ErrNoEvent = errors.New("projections: no event at this sequence")
	// ErrUnknownView is returned for a view that the runtime was not given.
	ErrUnknownView = errors.New("projections: unknown view")
	// ErrNotReady is returned by Reader for a view whose first build has not
	// caught up yet.
	ErrNotReady = errors.New("projections: view is being built for the first time")
	// ErrBuilding is returned by Verify and Rebuild for a view that is being built
	// already.
	ErrBuilding = errors.New("projections: view is being built")
	// ErrStopped is returned by WaitFor, Verify and Rebuild for a view whose
	// projector failed; it is joined with the cause.
	ErrStopped = errors.New("projections: projector is stopped")
	// ErrNotRead is returned by WaitFor for a stream that the view does not
	// read.
	ErrNotRead = errors.New("projections: view does not read this stream")
	// ErrCorruptStore is wrapped by every error of a store whose files are
	// damaged. Views can be rebuilt: see pebblestore.OpenOrReset.
	ErrCorruptStore = errors.New("projections: view store is corrupt")
	// ErrBadProjector is returned by NewRuntime for a projector whose name,
	// version or types cannot be.
	ErrBadProjector = errors.New("projections: bad projector")
)

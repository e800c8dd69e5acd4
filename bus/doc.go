// Package bus is the client side of the log and of the services around it, on
// NATS JetStream and NATS micro. It is the only place that knows subjects'
// expectations, error codes and readers of the server; bus/embedded runs a
// server, bus/bustest holds a fake and the suite that both pass.
//
// One way in. Decide changes an aggregate: it loads the state, decides, takes
// secrets out, appends with the expectation that nobody else did meanwhile, and
// folds. Record appends what depends on nothing. Nothing else appends, and what
// is folded is what is stored. (TestDecideStateIsTheLogs, TestDecideAnew,
// TestRecordOnceMore, test: TestOneWayIntoTheLog)
//
// Ordering. Records of a stream have one order, that of their sequences, and
// every reader sees it without a gap; an append with an expectation is stored
// only right after the record it expects. (bustest: Order, Concurrent,
// TwoAppenders; TestFollowSurvivesRestart)
//
// Durability. An append returns after the server has the event: on the disk with
// embedded.PowerLoss, in the kernel with embedded.Interval. A killed server
// process loses nothing it acknowledged with either, a power cut loses nothing
// with the first. (TestKillLosesNothing, TestPowerLossSyncs)
//
// Archive. Old records may leave a stream for segments of which the log tells; every
// reader finds them there, an error names a segment that is not whole, and an
// expectation of an archived aggregate holds as it did before.
// (TestArchivedRecordsAreReadAsBefore, TestMissingSegmentIsNamed,
// TestAppendToArchivedSessions, TestFollowAcrossATrim)
//
// Duplicates. An append is identified by its event's id. Repeated with the
// same expectation it returns the position it already has, whenever it is
// repeated; with Any, for the stream's duplicate window. (bustest: Retry)
// Follow hands every record over once for as long as it runs; a reader that
// starts again says where.
//
// Backpressure. Nothing is buffered without a bound: Follow reads ahead a few
// thousand records, and no more bytes than one largest message, and then the
// server waits; a service handles a bounded number of requests at once, and
// those behind them wait in order; a call while the server is away fails with
// ErrUnavailable instead of being kept for later. (bustest: SlowReader,
// TestServiceConcurrency, TestUnavailableWhileDown)
//
// Shutdown. A stopped service answers what it has taken before its stop
// returns; Follow returns when its context ends, between two batches; Drain
// handles and sends what is there, Close does not. (TestServiceStopFinishes,
// bustest: FollowEnds)
package bus

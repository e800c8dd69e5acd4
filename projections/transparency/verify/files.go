package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"

	"github.com/writbus/writ/bus"
	"github.com/writbus/writ/bus/blockfile"
	"github.com/writbus/writ/projections/transparency/evidence"
	"github.com/writbus/writ/schemas"
)

// readFiles hands over the records of a stream with their hashes from the
// server's files, and returns the last sequence that it handed over. It returns
// blockfile.ErrUnclear where only the server can tell what the stream holds.
func readFiles(ctx context.Context, root string, s schemas.Stream, state bus.StreamState, record func(schemas.Record, evidence.Hash)) (last uint64, err error) {
	if state.Messages != state.Last+1-state.First {
		return 0, fmt.Errorf("%w: records are missing in %s", blockfile.ErrUnclear, s)
	}
	paths, err := blockfile.Blocks(root, s)
	if err != nil {
		return 0, err
	}
	last = state.First - 1
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for block := range hashBlocks(ctx, paths, s) {
		hashed := <-block
		if len(hashed.hashes) > 0 && hashed.first != last+1 {
			return last, fmt.Errorf("%w: record %d of %s comes after %d", blockfile.ErrUnclear, hashed.first, s, last)
		}
		for _, hash := range hashed.hashes {
			last++
			record(schemas.Record{Stream: s, Seq: last}, hash)
		}
		switch {
		case errors.Is(hashed.err, blockfile.ErrTorn) && hashed.newest:
			return last, nil // the server is writing there
		case errors.Is(hashed.err, blockfile.ErrTorn):
			return last, fmt.Errorf("%w: %w", blockfile.ErrUnclear, hashed.err)
		case hashed.err != nil:
			return last, hashed.err
		}
	}
	return last, ctx.Err()
}

// hashedBlock holds the hashes of one block's records, which follow each other.
type hashedBlock struct {
	first  uint64
	hashes []evidence.Hash
	newest bool
	err    error
}

// hashBlocks reads and hashes blocks on all processors, and hands them over in
// their order.
func hashBlocks(ctx context.Context, paths []string, s schemas.Stream) <-chan chan hashedBlock {
	queue := make(chan chan hashedBlock, runtime.GOMAXPROCS(0)-1) // so many and one more are in memory
	go func() {
		defer close(queue)
		for i, path := range paths {
			block := make(chan hashedBlock, 1)
			select {
			case queue <- block:
			case <-ctx.Done():
				return
			}
			go func() { block <- hashBlock(path, s, i == len(paths)-1) }()
		}
	}()
	return queue
}

func hashBlock(path string, s schemas.Stream, newest bool) (b hashedBlock) {
	b.newest = newest
	raw, err := os.ReadFile(path)
	if err != nil {
		b.err = err
		return b
	}
	var hasher evidence.Hasher
	for r, err := range blockfile.Records(raw, s) {
		if err != nil {
			b.err = err
			return b
		}
		if len(b.hashes) == 0 {
			b.first = r.Seq
		}
		b.hashes = append(b.hashes, hasher.Leaf(r.Message))
	}
	return b
}

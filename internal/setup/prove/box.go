package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/boxspec"
	"github.com/floodmark/floodmark/internal/box/escape"
)

// Box tries to escape from a box that the program makes on this machine, and records in the file of
// proofs whether every attempt failed. made is called after each attempt with the number of
// attempts so far.
func Box(ctx context.Context, proofs, program string, at time.Time, made func(done, total int)) (escape.Report, error) {
	known, err := catalog.Shipped()
	if err != nil {
		return escape.Report{}, err
	}
	before, err := programDigest(program)
	if err != nil {
		return escape.Report{}, err
	}
	r, err := escape.Prove(ctx, program, boxspec.Rules(known), made)
	if err != nil {
		return escape.Report{}, err
	}
	after, err := programDigest(program)
	if err == nil && before != after {
		err = errors.New("floodmark-box was replaced meanwhile: try again")
	}
	if err == nil {
		err = keepBox(proofs, before, r.Verified, at)
	}
	if err != nil {
		return escape.Report{}, fmt.Errorf("what was seen of the box could not be kept: %w", err)
	}
	return r, nil
}

// keepBox records that a box of the program held. If it did not hold, keepBox removes an earlier
// record.
func keepBox(path, program string, held bool, at time.Time) error {
	var seen *boxProof
	if held {
		seen = &boxProof{Program: program, Kernel: kernelRelease(), At: at}
	}
	return change(path, func(p *proofs) { p.Box = seen })
}

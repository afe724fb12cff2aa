package prove

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/floodmark/floodmark/catalog"
	"github.com/floodmark/floodmark/internal/box/escape"
	"github.com/floodmark/floodmark/internal/boxspec"
)

// Box tries to escape from a box that a program makes on this machine, and adds to the proofs in a
// file whether every attempt failed. made is called after each attempt with the number made.
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

// keepBox writes down whether a box held. One that did not takes the place of one that
// did.
func keepBox(path, program string, held bool, at time.Time) error {
	var seen *boxProof
	if held {
		seen = &boxProof{Program: program, Kernel: kernelRelease(), At: at}
	}
	return change(path, func(p *proofs) { p.Box = seen })
}

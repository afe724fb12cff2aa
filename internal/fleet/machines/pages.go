package machines

import (
	"context"
	"iter"
)

// Each yields the machines of a tenant in the order of their ids, and reads them page by page. It
// ends after the first error.
func Each(ctx context.Context, b Book, tenant string) iter.Seq2[Status, error] {
	return func(yield func(Status, error) bool) {
		for p := (Page{Most: MaxPage}); ; {
			list, err := b.List(ctx, tenant, p)
			if err != nil {
				yield(Status{}, err)
				return
			}
			for _, one := range list {
				p.After = one.ID
				if !yield(one, nil) {
					return
				}
			}
			if len(list) < p.Most {
				return
			}
		}
	}
}

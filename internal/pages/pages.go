// Package pages lists objects of the API server in pages, so that the answer to one request has a bounded number of objects. It only
// reads, and blocks until the last page is read.
package pages

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// size is the largest number of objects of a page.
const size = 500

// ForEach calls do for each object of a list until do returns an error. Objects of a metadata list have the kind of the list's items.
func ForEach(ctx context.Context, c client.Reader, list client.ObjectList, do func(client.Object) error, options ...client.ListOption) error {
	kind := list.GetObjectKind().GroupVersionKind()
	for {
		page := slices.Concat(options, []client.ListOption{client.Limit(size), client.Continue(list.GetContinue())})
		if err := c.List(ctx, list, page...); err != nil {
			return fmt.Errorf("list %s: %w", cmp.Or(kind.Kind, fmt.Sprintf("%T", list)), err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			if metadata, ok := item.(*metav1.PartialObjectMetadata); ok {
				metadata.SetGroupVersionKind(kind.GroupVersion().WithKind(strings.TrimSuffix(kind.Kind, "List")))
			}
			return do(item.(client.Object))
		})
		if err != nil || list.GetContinue() == "" {
			return err
		}
	}
}

package prepareupgrade

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// TestWebhookLag releases an object while the API server still calls a webhook that is gone.
func TestWebhookLag(t *testing.T) {
	unreachable := apierrors.NewInternalError(errors.New(`failed calling webhook "operator.azure.com": connection refused`))
	forbidden := apierrors.NewForbidden(schema.GroupResource{}, "c1", errors.New("not yours"))
	for name, test := range map[string]struct {
		answer error
		until  time.Duration
		want   string
		takes  time.Duration
	}{
		"for a moment":  {unreachable, 3 * time.Second, "", 3 * time.Second},
		"without end":   {unreachable, time.Hour, "failed calling webhook", webhookLag},
		"another error": {forbidden, time.Hour, "not yours", 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				c := fake.NewClientBuilder().WithInterceptorFuncs(interceptor.Funcs{
					Patch: func(context.Context, client.WithWatch, client.Object, client.Patch, ...client.PatchOption) error {
						if time.Since(begun) < test.until {
							return test.answer
						}
						return nil
					}}).Build()
				object := metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "c1", Finalizers: []string{operatorFinalizer}}}
				var printed strings.Builder
				err := ReleaseObjects(t.Context(), c, []metav1.PartialObjectMetadata{object}, &printed)
				if (err == nil) != (test.want == "") || err != nil && !strings.Contains(err.Error(), test.want) {
					t.Errorf("released: %v, want %q", err, test.want)
				}
				if took := time.Since(begun); took != test.takes {
					t.Errorf("it took %s, want %s", took, test.takes)
				}
			})
		})
	}
}

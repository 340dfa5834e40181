package prepareupgrade

import (
	"context"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Each API server has a copy of the webhook configurations, and calls a webhook for a moment after its configuration was deleted.
const (
	webhookLag   = 30 * time.Second
	webhookRetry = time.Second
)

// patchPastWebhooks patches an object after the configurations of the operator's webhooks were deleted. It waits for API servers that still
// call one of them.
func patchPastWebhooks(ctx context.Context, c client.Client, object client.Object, change client.Patch, options ...client.PatchOption) error {
	var last error
	err := wait.PollUntilContextTimeout(ctx, webhookRetry, webhookLag, true, func(ctx context.Context) (bool, error) {
		last = c.Patch(ctx, object, change, options...)
		return !isWebhookUnreachable(last), nil
	})
	if last == nil {
		return err
	}
	return last
}

// isWebhookUnreachable reports whether an API server could not call a webhook.
func isWebhookUnreachable(err error) bool {
	return apierrors.IsInternalError(err) && strings.Contains(err.Error(), "failed calling webhook")
}

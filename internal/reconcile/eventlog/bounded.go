package eventlog

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/events"

	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// NewBoundedRecorder returns a recorder that shortens notes to the limit of the API server, which otherwise drops the whole event.
func NewBoundedRecorder(recorder events.EventRecorder) events.EventRecorder {
	if _, is := recorder.(boundedRecorder); is {
		return recorder
	}
	return boundedRecorder{recorder}
}

type boundedRecorder struct{ events.EventRecorder }

// Eventf implements events.EventRecorder.
func (b boundedRecorder) Eventf(regarding, related runtime.Object, eventType, reason, action, note string, args ...any) {
	b.EventRecorder.Eventf(regarding, related, eventType, reason, action, "%s", text.Truncate(fmt.Sprintf(note, args...), text.MaxNote))
}

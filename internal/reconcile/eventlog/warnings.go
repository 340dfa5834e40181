package eventlog

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/text"
)

// warning is a Warning of one reconciliation that was not emitted yet.
type warning struct {
	related *corev1.ObjectReference
	reason  string
	texts   []string
	// ids are the Azure request IDs of the texts, "" for none.
	ids []string
}

// addWarning adds a Warning. Texts with the same reason and related object share a note, so that a reconciliation emits one event for each
// reason.
func (p *Recording) addWarning(related *corev1.ObjectReference, reason, text string, err error) {
	for _, w := range p.warnings {
		if w.reason == reason && isSameReference(w.related, related) {
			w.texts, w.ids = append(w.texts, text), append(w.ids, arm.RequestID(err))
			return
		}
	}
	p.warnings = append(p.warnings, &warning{related: related, reason: reason, texts: []string{text}, ids: []string{arm.RequestID(err)}})
}

func isSameReference(a, b *corev1.ObjectReference) bool {
	return a == nil && b == nil || a != nil && b != nil && *a == *b
}

// emitWarnings emits the Warnings that were added.
func (p *Recording) emitWarnings() {
	for _, w := range p.warnings {
		p.recorder.emitEvent(p.obj, w.related, corev1.EventTypeWarning, w.reason, w.note())
	}
	p.warnings = nil
}

// note returns the texts with their request IDs. Each may have the same part of the note.
func (w *warning) note() string {
	const separator = "; "
	length := (text.MaxNote - len(separator)*(len(w.texts)-1)) / len(w.texts)
	var parts []string
	for i, cause := range w.texts {
		id := w.ids[i]
		if id != "" {
			id = " (Azure request " + id + ")"
		}
		parts = append(parts, text.Truncate(cause, max(length-len(id), 0))+id)
	}
	return strings.Join(parts, separator)
}

// Package stopping reads from annotations whether the VMs of an object have to be stopped, and until when that is so. It is pure.
package stopping

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// Values of the annotation infrav1.StopAnnotation.
const (
	deallocate = "true"
	// ScaleToZero leaves pools without VMs.
	ScaleToZero = "scale-to-zero"
	run         = "false"
)

// Request is what annotations ask of the VMs of an object.
type Request struct {
	// Stop asks to stop them. ScaleToZero asks to delete those of pools instead.
	Stop, ScaleToZero bool
	// Run asks to start VMs, also those that others have stopped.
	Run bool
	// Cause names the annotation that decides, and Field is its field; they are empty if there is none.
	Cause string
	Field *field.Path
	// Until is when a schedule changes the request; zero if none does.
	Until time.Time
}

// source is an object whose annotations count. kind is its kind in messages.
type source struct {
	kind   string
	object metav1.Object
}

// ReadRequest returns the request of the object of a kind at a time. The annotations of the object count before those of its Cluster,
// which may be nil, and a value before a schedule. The errors name an annotation that cannot be read.
func ReadRequest(now time.Time, kind string, object, cluster metav1.Object) (Request, field.ErrorList) {
	sources := []source{{kind, object}}
	if cluster != nil {
		sources = append(sources, source{"Cluster", cluster})
	}
	for _, s := range sources {
		if value, ok := s.object.GetAnnotations()[infrav1.StopAnnotation]; ok {
			return s.readValue(value)
		}
		if text, ok := s.object.GetAnnotations()[infrav1.StopScheduleAnnotation]; ok {
			return s.readSchedule(now, text)
		}
	}
	return Request{}, nil
}

func (s source) readValue(value string) (Request, field.ErrorList) {
	out := Request{Cause: s.describe(infrav1.StopAnnotation), Field: s.path(infrav1.StopAnnotation)}
	switch value {
	case deallocate:
		out.Stop = true
	case ScaleToZero:
		out.Stop, out.ScaleToZero = true, true
	case run:
		out.Run = true
	default:
		return Request{}, field.ErrorList{field.NotSupported(s.path(infrav1.StopAnnotation), value, []string{deallocate, ScaleToZero, run})}
	}
	return out, nil
}

func (s source) readSchedule(now time.Time, text string) (Request, field.ErrorList) {
	windows, err := parseSchedule(now, text)
	if err != nil {
		return Request{}, field.ErrorList{field.Invalid(s.path(infrav1.StopScheduleAnnotation), field.OmitValueType{}, err.Error())}
	}
	out := Request{Cause: s.describe(infrav1.StopScheduleAnnotation), Field: s.path(infrav1.StopScheduleAnnotation)}
	out.Stop, out.Until = stateAt(now, windows)
	return out, nil
}

// describe names an annotation with its object.
func (s source) describe(annotation string) string {
	return fmt.Sprintf("the annotation %s on %s %s", annotation, s.kind, s.object.GetName())
}

// path is the field of an annotation. That of a Cluster names the Cluster, because the error is shown by another object.
func (s source) path(annotation string) *field.Path {
	metadata := field.NewPath("metadata")
	if s.kind == "Cluster" {
		metadata = field.NewPath("Cluster "+s.object.GetName(), "metadata")
	}
	return metadata.Child("annotations").Key(annotation)
}

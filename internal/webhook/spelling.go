package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// mutation answers requests for the defaults of a kind. It leaves every value as the user wrote it that the defaults do not change. Go's
// types write a quantity of 0.04 as 40m and a duration of 1h as 1h0m0s, which GitOps tools would take for a change, and every other
// apply would be a new generation.
type mutation[T client.Object] struct {
	kind   kind[T]
	scheme *runtime.Scheme
}

// Handle implements admission.Handler.
func (m mutation[T]) Handle(ctx context.Context, request admission.Request) admission.Response {
	recorded := &recordedDefaults[T]{kind: m.kind}
	response := admission.WithDefaulter(m.scheme, recorded).Handler.Handle(ctx, request)
	if !response.Allowed || len(response.Patches) == 0 {
		return response
	}
	mutated, err := json.Marshal(keepSpelling(decoded(request.Object.Raw), decoded(recorded.before), decoded(recorded.after)))
	if err != nil {
		return admission.Errored(apierrors.NewInternalError(err).ErrStatus.Code, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, mutated)
}

// recordedDefaults are the defaults of a kind for one request, with the object as Go writes it before and after them.
type recordedDefaults[T client.Object] struct {
	kind          kind[T]
	before, after []byte
}

// Default implements admission.Defaulter.
func (r *recordedDefaults[T]) Default(ctx context.Context, obj T) (err error) {
	if r.before, err = json.Marshal(obj); err != nil {
		return err
	}
	if err = r.kind.Default(ctx, obj); err != nil {
		return err
	}
	r.after, err = json.Marshal(obj)
	return err
}

// decoded is a JSON value with its numbers as they are written; nil for what is no JSON.
func decoded(document []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// keepSpelling is after with what raw has where after is as before. before is raw as Go's types write it: it lacks unknown fields and
// empty ones.
func keepSpelling(raw, before, after any) any {
	switch raw := raw.(type) {
	case map[string]any:
		was, isMap := before.(map[string]any)
		is, staysMap := after.(map[string]any)
		if !isMap || !staysMap {
			return after
		}
		for key, value := range raw {
			valueBefore, known := was[key]
			valueAfter, stays := is[key]
			switch {
			case known && stays:
				is[key] = keepSpelling(value, valueBefore, valueAfter)
			case !known && !stays:
				is[key] = value
			}
		}
		return is
	case []any:
		was, isList := before.([]any)
		is, staysList := after.([]any)
		if !isList || !staysList || len(was) != len(raw) {
			return after
		}
		for i := range min(len(raw), len(is)) {
			is[i] = keepSpelling(raw[i], was[i], is[i])
		}
		return is
	}
	if reflect.DeepEqual(before, after) {
		return raw
	}
	return after
}

package webhook

import (
	"bytes"
	"context"
	"encoding/json"
	"reflect"
	"strings"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"
)

// mutation handles mutating requests of a kind. Values that the defaults do not change keep the user's spelling. Go's types write a
// quantity of 0.04 as 40m and a duration of 1h as 1h0m0s; GitOps tools would treat that as a change, and every other apply would
// create a new generation.
type mutation[T client.Object] struct {
	kind   kind[T]
	scheme *runtime.Scheme
}

// Handle implements admission.Handler.
func (m mutation[T]) Handle(ctx context.Context, request admission.Request) admission.Response {
	recorded := &recordedDefaults[T]{kind: m.kind}
	response := admission.WithDefaulter(m.scheme, recorded).Handler.Handle(ctx, request)
	if !response.Allowed || recorded.after == nil {
		return response
	}
	before := decodeJSON(recorded.before)
	kept := spellNumbers(decodeJSON(request.Object.Raw), before)
	if len(response.Patches) > 0 {
		kept = keepSpelling(kept, before, decodeJSON(recorded.after))
	}
	if request.Operation == admissionv1.Update {
		kept = m.keepStoredLists(request, decodeJSON(recorded.after), kept)
	}
	mutated, err := json.Marshal(kept)
	if err != nil {
		return admission.Errored(apierrors.NewInternalError(err).ErrStatus.Code, err)
	}
	return admission.PatchResponseFromRaw(request.Object.Raw, mutated)
}

// keepStoredLists takes defaults out of lists that an update leaves as they are stored. The API server spares the errors of stored values,
// and takes every element of a list in which one has changed for a new one. Plans have the defaults all the same. after is the request's
// object with its defaults, as Go writes it, and kept is the answer without this change.
func (m mutation[T]) keepStoredLists(request admission.Request, after, kept any) any {
	old := empty[T]()
	if json.Unmarshal(request.OldObject.Raw, old) != nil || m.kind.defaults == nil {
		return kept
	}
	m.kind.defaults(old)
	defaulted, err := json.Marshal(old)
	if err != nil {
		return kept
	}
	return keepLists(listVersions{stored: decodeJSON(request.OldObject.Raw), sent: decodeJSON(request.Object.Raw),
		storedDefaulted: decodeJSON(defaulted), sentDefaulted: after}, kept)
}

// listVersions are the versions of a value in an update.
type listVersions struct{ stored, sent, storedDefaulted, sentDefaulted any }

// keepLists returns kept with the stored lists where the update sends them, and where both objects get the same defaults: a default may
// depend on another field, which has changed.
func keepLists(v listVersions, kept any) any {
	switch kept := kept.(type) {
	case map[string]any:
		below := func(value any, key string) any {
			object, _ := value.(map[string]any)
			return object[key]
		}
		for key := range kept {
			kept[key] = keepLists(listVersions{below(v.stored, key), below(v.sent, key), below(v.storedDefaulted, key), below(v.sentDefaulted, key)},
				kept[key])
		}
	case []any:
		stored, _ := v.stored.([]any)
		if len(stored) > 0 && reflect.DeepEqual(v.stored, v.sent) && reflect.DeepEqual(v.storedDefaulted, v.sentDefaulted) {
			return v.stored
		}
		sent, _ := v.sent.([]any)
		storedDefaulted, _ := v.storedDefaulted.([]any)
		sentDefaulted, _ := v.sentDefaulted.([]any)
		if n := len(kept); len(stored) != n || len(sent) != n || len(storedDefaulted) != n || len(sentDefaulted) != n {
			return kept
		}
		for i := range kept {
			kept[i] = keepLists(listVersions{stored[i], sent[i], storedDefaulted[i], sentDefaulted[i]}, kept[i])
		}
	}
	return kept
}

// recordedDefaults are the defaults of a kind for one request, with the object as Go writes it before and after them.
type recordedDefaults[T client.Object] struct {
	kind          kind[T]
	before, after []byte
}

// Default implements admission.Defaulter.
func (r *recordedDefaults[T]) Default(ctx context.Context, obj T) (err error) {
	// A copy is needed, because encoding a quantity caches its text in it, which would count as a change.
	if r.before, err = json.Marshal(obj.DeepCopyObject()); err != nil {
		return err
	}
	if err = r.kind.Default(ctx, obj); err != nil {
		return err
	}
	r.after, err = json.Marshal(obj.DeepCopyObject())
	return err
}

// decodeJSON parses JSON and keeps the text of numbers. It returns nil for invalid JSON.
func decodeJSON(document []byte) (value any) {
	decoder := json.NewDecoder(bytes.NewReader(document))
	decoder.UseNumber()
	if decoder.Decode(&value) != nil {
		return nil
	}
	return value
}

// keepSpelling returns after with the values of raw wherever after equals before. before is raw as Go's types encode it, without
// unknown and empty fields.
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
	if !reflect.DeepEqual(before, after) {
		return after
	}
	return raw
}

// spellNumbers returns raw with fractional numbers as strings where the Go type is a quantity, because schemas accept quantities as
// integers and strings only.
func spellNumbers(raw, before any) any {
	switch raw := raw.(type) {
	case map[string]any:
		was, _ := before.(map[string]any)
		for key := range raw {
			raw[key] = spellNumbers(raw[key], was[key])
		}
	case []any:
		if was, _ := before.([]any); len(was) == len(raw) {
			for i := range raw {
				raw[i] = spellNumbers(raw[i], was[i])
			}
		}
	case json.Number:
		if _, quantity := before.(string); quantity && strings.ContainsAny(raw.String(), ".eE") {
			return raw.String()
		}
	}
	return raw
}

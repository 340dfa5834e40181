package webhook

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"

	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/cluster-api/util/topology"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/webhook/admission"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
)

// kind declares and implements the webhooks of one kind. Functions are optional: without defaults there is no mutating webhook, and
// without remove the API server does not call the webhook for deletions.
type kind[T client.Object] struct {
	// fill sets the values that need more than the object: random numbers, the request or the API server. It runs before defaults.
	fill func(context.Context, T) error
	// defaults sets the values that depend on the object alone. It runs on both objects of an update before they are compared.
	defaults func(T)
	// spec returns the part of the object that update rules are about. An update that does not change it is never refused, and one of an
	// object that is being deleted only by identity. Without spec every update is checked.
	spec func(T) any
	// identity refuses other values of fields that name the object's resources in Azure, also while the object is being deleted: the
	// deletion finds the resources by these names, and would leave those with the former names in Azure. Kinds whose deletion finds them
	// in the applied annotation need none.
	identity func(old, obj T) field.ErrorList
	// template is true for kinds whose immutable fields Cluster API's dry runs may change, to find out whether a template has to be
	// rotated.
	template bool
	create   func(context.Context, T) (field.ErrorList, error)
	update   func(ctx context.Context, old, obj T) (field.ErrorList, error)
	remove   func(context.Context, T) (field.ErrorList, error)
	// ineffective returns errors for which a stored object is not reconciled, or a part of its spec has no effect. Webhooks do not call it.
	ineffective func(T) field.ErrorList
	// warn returns warnings about accepted settings that users should avoid; old is nil on creation.
	warn func(old, obj T) admission.Warnings
}

// of adapts pure rules about one object.
func of[T client.Object](rules func(T) field.ErrorList) func(context.Context, T) (field.ErrorList, error) {
	return func(_ context.Context, obj T) (field.ErrorList, error) { return rules(obj), nil }
}

// between adapts pure rules about the old and the new object.
func between[T client.Object](rules func(old, obj T) field.ErrorList) func(context.Context, T, T) (field.ErrorList, error) {
	return func(_ context.Context, old, obj T) (field.ErrorList, error) { return rules(old, obj), nil }
}

// onCreation returns warnings on creation only; updates do not repeat them.
func onCreation[T client.Object](warn func(T) admission.Warnings) func(old, obj T) admission.Warnings {
	return func(old, obj T) admission.Warnings {
		if !reflect.ValueOf(old).IsNil() {
			return nil
		}
		return warn(obj)
	}
}

// Default implements admission.Defaulter.
func (k kind[T]) Default(ctx context.Context, obj T) error {
	carryMetadata(ctx, obj)
	if k.fill != nil {
		if err := k.fill(ctx, obj); err != nil {
			return err
		}
	}
	k.defaults(obj)
	return nil
}

// ValidateCreate implements admission.Validator.
func (k kind[T]) ValidateCreate(ctx context.Context, obj T) (warnings admission.Warnings, err error) {
	var errs field.ErrorList
	if k.create != nil {
		errs, err = k.create(ctx, obj)
	}
	errs = append(errs, checkTexts(obj)...)
	if k.warn != nil {
		var none T
		warnings = k.warn(none, obj)
	}
	return warnings, k.refuse(obj, errs, err)
}

// ValidateUpdate implements admission.Validator.
func (k kind[T]) ValidateUpdate(ctx context.Context, old, obj T) (warnings admission.Warnings, err error) {
	if k.template && isTopologyDryRun(ctx, obj) {
		return nil, nil
	}
	if k.defaults != nil {
		// The object may lack defaults as well: lists that it leaves as they are stored have none.
		old, obj = old.DeepCopyObject().(T), obj.DeepCopyObject().(T)
		k.defaults(old)
		k.defaults(obj)
	}
	if k.spec != nil && equality.Semantic.DeepEqual(k.spec(old), k.spec(obj)) {
		return nil, nil
	}
	var errs field.ErrorList
	if k.identity != nil {
		errs = k.identity(old, obj)
	}
	if k.spec != nil && !obj.GetDeletionTimestamp().IsZero() {
		return nil, k.refuse(obj, errs, nil)
	}
	if k.update != nil {
		var others field.ErrorList
		others, err = k.update(ctx, old, obj)
		errs = append(errs, others...)
	}
	errs = append(errs, introducedErrors(checkTexts(old), checkTexts(obj))...)
	if k.warn != nil {
		warnings = k.warn(old, obj)
	}
	return warnings, k.refuse(obj, errs, err)
}

// ValidateDelete implements admission.Validator.
func (k kind[T]) ValidateDelete(ctx context.Context, obj T) (admission.Warnings, error) {
	if k.remove == nil {
		return nil, nil
	}
	errs, err := k.remove(ctx, obj)
	return nil, k.refuse(obj, errs, err)
}

// refuse turns field errors into the API error that kubectl shows, or nil if there are none. failed is the error of a rule that
// could not be evaluated.
func (k kind[T]) refuse(obj T, errs field.ErrorList, failed error) error {
	if failed != nil || len(errs) == 0 {
		return failed
	}
	return apierrors.NewInvalid(infrav1.GroupVersion.WithKind(k.name()).GroupKind(), obj.GetName(), limitErrors(errs))
}

// maxErrors is how many errors an answer has. A small object can have a hundred thousand, and the time for the text of an API error grows with
// the square of their number.
const maxErrors = 50

// limitErrors returns the first errors. The last one of them has the number of the others.
func limitErrors(errs field.ErrorList) field.ErrorList {
	if len(errs) <= maxErrors {
		return errs
	}
	last := *errs[maxErrors-1]
	last.Detail = fmt.Sprintf("%s (and %d more errors, which are not shown)", last.Detail, len(errs)-maxErrors)
	return append(errs[:maxErrors-1:maxErrors-1], &last)
}

// name returns the name of the Go type, as in the scheme.
func (kind[T]) name() string { return reflect.TypeFor[T]().Elem().Name() }

// operations returns the operations for which the API server calls the webhooks; mutate is empty without defaults.
func (k kind[T]) operations() (mutating, validating []admissionregistrationv1.OperationType) {
	validating = []admissionregistrationv1.OperationType{admissionregistrationv1.Create, admissionregistrationv1.Update}
	if k.defaults != nil {
		mutating = slices.Clone(validating)
	}
	if k.remove != nil {
		validating = append(validating, admissionregistrationv1.Delete)
	}
	return mutating, validating
}

func (k kind[T]) register(mgr ctrl.Manager) error {
	if k.defaults != nil {
		mgr.GetWebhookServer().Register("/mutate-"+k.path(), &admission.Webhook{
			Handler: explained[T]{Handler: mutation[T]{kind: k, scheme: mgr.GetScheme()}, kind: k}})
	}
	path := "/validate-" + k.path()
	mgr.GetWebhookServer().Register(path, &admission.Webhook{
		Handler: explained[T]{Handler: admission.WithValidator(mgr.GetScheme(), admission.Validator[T](k)).Handler, kind: k}})
	return nil
}

// path returns the end of the paths of the kind's webhooks.
func (k kind[T]) path() string {
	return strings.ReplaceAll(infrav1.GroupVersion.Group, ".", "-") + "-" + infrav1.GroupVersion.Version + "-" + strings.ToLower(k.name())
}

// empty returns a new object of the kind.
func empty[T client.Object]() T { return reflect.New(reflect.TypeFor[T]().Elem()).Interface().(T) }

func isTopologyDryRun(ctx context.Context, obj client.Object) bool {
	request, err := admission.RequestFromContext(ctx)
	return err == nil && topology.IsDryRunRequest(request, obj)
}

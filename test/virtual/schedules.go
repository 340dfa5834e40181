package virtual

import (
	"context"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	infrav1 "sigs.k8s.io/cluster-api-provider-azure/api/v1beta1"
	"sigs.k8s.io/cluster-api-provider-azure/internal/preview/management"
	"sigs.k8s.io/cluster-api-provider-azure/internal/reconcile/stopping"
)

// hasScheduleChanged reports whether the schedule of an object has stopped or started VMs since a time.
func (p *plans) hasScheduleChanged(since time.Time) bool {
	read, err := management.Read(context.Background(), p.scenario.Kubernetes, management.Scope{})
	if err != nil {
		p.problems = append(p.problems, err.Error())
		return false
	}
	return slices.ContainsFunc(read.Items, func(object client.Object) bool {
		if object.GetAnnotations()[infrav1.StopScheduleAnnotation] == "" {
			return false
		}
		request, errs := stopping.ReadRequest(since, "", object, nil)
		return len(errs) == 0 && !request.Until.IsZero() && !request.Until.After(time.Now())
	})
}

package server

import (
	"cmp"
	"fmt"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/sim/body"
	"sigs.k8s.io/cluster-api-provider-azure/sim/fault"
	"sigs.k8s.io/cluster-api-provider-azure/sim/provider"
	"sigs.k8s.io/cluster-api-provider-azure/sim/store"
)

// disturbNow changes the resource of a rule, which has to exist.
func (s *Server) disturbNow(rule fault.Rule) error {
	found := false
	s.store.View(func(tx *store.Tx) {
		found = (&provider.Call{Tx: tx, Env: s.env}).FindItem(rule.ID) != nil
	})
	if !found {
		return fmt.Errorf("no resource has the id %s", rule.ID)
	}
	return s.disturbResource(rule, rule.ID)
}

// disturbResource changes a resource as another client of Azure might. A resource that does not exist stays so.
func (s *Server) disturbResource(rule fault.Rule, id string) error {
	parsed, err := store.ParseID(id)
	if err != nil {
		return err
	}
	return s.store.Update(func(tx *store.Tx) error {
		c := &provider.Call{Tx: tx, Env: s.env, Method: "PUT", ID: parsed, BaseURL: "https://management.azure.com", Internal: true,
			RequestID: s.newGUID()}
		it := c.FindItem(id)
		if it == nil {
			return nil
		}
		c.Type = s.env.TypeOf(parsed.Type())
		r := c.Edit(it.Resource.ID)
		switch rule.Kind {
		case fault.EtagRace:
			c.SaveResource(r)
		case fault.Edit:
			target := r.Body
			if c.Type != nil && c.Type.Inline != "" {
				_, target = body.FindNamed(body.Objects(r.Body, c.Type.Inline), it.Name)
			}
			body.Merge(target, rule.Patch)
			c.SaveResource(r)
		case fault.Remove:
			c.EraseTree(it.ID)
		case fault.Evict:
			if c.Type == nil || c.Type.Actions["simulateeviction"] == nil {
				return provider.Errorf(400, "OperationNotAllowed", "%s cannot be evicted.", it.ID)
			}
			_, err := c.Type.Actions["simulateeviction"].Start(c, it.Resource)
			return err
		}
		return nil
	})
}

// methodOf returns the method of the request that begins an operation.
func methodOf(verb string) string {
	if method := map[string]string{"create": "PUT", "update": "PUT", "patch": "PATCH", "delete": "DELETE"}[verb]; method != "" {
		return method
	}
	return "POST"
}

// operationFault changes an operation at its start.
func (s *Server) operationFault(op *store.Operation) {
	rule, hit := s.faults.TakeMatching(methodOf(op.Verb), op.Type, op.ResourceID, fault.Kind.OfOperation)
	if !hit {
		return
	}
	switch rule.Kind {
	case fault.Stuck:
		op.Due = time.Time{}
	case fault.Slow:
		if rule.Seconds > 0 {
			op.Earliest, op.MinPolls = op.Started.Add(time.Duration(rule.Seconds*float64(time.Second))), 0
			return
		}
		op.Due = op.Started.Add(time.Duration(float64(op.Due.Sub(op.Started)) * max(rule.Factor, 1)))
	case fault.Fail, fault.Cancel:
		code := rule.Code
		if rule.Kind == fault.Cancel {
			op.Broken = store.Canceled
			if code == "" && op.Style == string(provider.Network) {
				op.Error = supersededError(op, s.newGUID()).InnerObject(true)
				return
			}
			code = cmp.Or(code, "OperationPreempted")
		}
		msg := rule.Message
		if msg == "" {
			msg = "The operation failed. Injected by the fault script."
		}
		op.Error = provider.Errorf(0, code, "%s", msg).WithTarget(rule.Target).InnerObject(false)
	case fault.Allocate:
		op.Error = allocationError(rule.Code).InnerObject(false)
	}
}

// supersededError is the error of an operation of the network provider while another client writes the same resource. Sources:
// kubernetes/kubernetes#81282, aztfmod/terraform-azurerm-caf#389.
func supersededError(op *store.Operation, by string) *provider.Error {
	name := provider.OperationName(op)
	return provider.Errorf(0, "Canceled", "Operation was canceled.").WithDetail(provider.Errorf(0, "CanceledAndSupersededDueToAnotherOperation",
		"Operation %sOperation (%s) was canceled and superseded by operation %[1]sOperation (%[3]s).", name, op.ID, by))
}

func allocationError(code string) *provider.Error {
	switch code {
	case "ZonalAllocationFailed":
		return provider.Errorf(0, code,
			"Allocation failed. We do not have sufficient capacity for the requested VM size in this zone. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance")
	case "OverconstrainedAllocationRequest", "OverconstrainedZonalAllocationRequest":
		return provider.Errorf(0, code,
			"Allocation failed. VM(s) with the following constraints cannot be allocated, because the condition is too restrictive. Please remove some constraints and try again. Constraints applied are:\n  - Availability Zone\n  - Networking Constraints (such as Accelerated Networking or IPv6)\n  - VM Size\n").WithTarget("0")
	}
	return provider.Errorf(0, "AllocationFailed",
		"Allocation failed. We do not have sufficient capacity for the requested VM size in this region. Read more about improving likelihood of allocation success at http://aka.ms/allocation-guidance")
}

// checkFault lets a provider's own check fail.
func (s *Server) checkFault(kind, method, typ, id string) *provider.Error {
	rule, hit := s.faults.TakeMatching(method, typ, id, func(k fault.Kind) bool { return string(k) == kind })
	if !hit {
		return nil
	}
	return provider.Errorf(409, rule.Code, "%s", rule.Message)
}

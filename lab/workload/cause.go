package workload

import (
	"cmp"
	"fmt"
	"strings"

	"sigs.k8s.io/cluster-api-provider-azure/lab/simulator"
)

// Cause is why a cluster is not ready, as deep as it can be known.
type Cause struct {
	// Object is the kind and name of the object with the cause, or the virtual machine.
	Object string
	// What is the condition, its reason and its message.
	What string
	// Process is the one whose log has more.
	Process string
}

func (c *Cause) String() string { return c.Object + ": " + c.What }

// FindCause returns the deepest reason why the cluster is not ready: a machine that failed to boot, else the condition
// of the deepest object that names a failure, else the missing prerequisite of the deepest object. Nil means that there
// is no problem.
func FindCause(root *Object, guests []simulator.Guest) *Cause {
	if cause := guestCause(root, guests); cause != nil {
		return cause
	}
	var found *Object
	var problem Problem
	var depthFound int
	root.Walk(func(o *Object, depth int) {
		for _, p := range o.Problems {
			if found == nil || compareProblems(o.Kind, depth, p, found.Kind, depthFound, problem) < 0 {
				found, problem, depthFound = o, p, depth
			}
		}
	})
	if found == nil {
		return unreportedCause(root)
	}
	what := problem.Type + " is not true: " + problem.Reason
	if problem.Message != "" {
		what += ": " + problem.Message
	}
	return &Cause{Object: found.Kind + " " + found.Name, What: what, Process: processOf(found.Kind)}
}

// guestCause finds a machine that runs in Azure but could not become a node.
func guestCause(root *Object, guests []simulator.Guest) *Cause {
	names := map[string]bool{}
	root.Walk(func(o *Object, _ int) {
		if o.Kind == "AzureMachine" || o.Kind == "Machine" {
			names[o.Name] = true
		}
	})
	for _, g := range guests {
		if names[g.ComputerName] && g.Status.Phase == "Failed" {
			return &Cause{Object: "virtual machine " + g.ComputerName, What: "boot failed: " + g.Status.Message, Process: "bridge"}
		}
	}
	return nil
}

// unreportedCause finds an object that is not ready and has no condition with the cause, because its controller has not reconciled it yet.
func unreportedCause(root *Object) *Cause {
	var cause *Cause
	root.Walk(func(o *Object, _ int) {
		if !o.Ready && len(o.Problems) == 0 {
			cause = &Cause{Object: o.Kind + " " + o.Name, What: o.Status + "; it has no condition with the cause", Process: processOf(o.Kind)}
		}
	})
	return cause
}

// compareProblems is negative when the first problem is closer to the cause: a failure before waiting, infrastructure before
// objects that wait for it, false before unknown, deep before shallow, a part before those that wait for it
// and before the summary of all parts.
func compareProblems(kind1 string, depth1 int, p1 Problem, kind2 string, depth2 int, p2 Problem) int {
	order := func(b1, b2 bool) int { return cmp.Compare(boolToInt(b1), boolToInt(b2)) }
	return cmp.Or(
		order(p1.isWaiting(), p2.isWaiting()),
		order(!strings.HasPrefix(kind1, "Azure"), !strings.HasPrefix(kind2, "Azure")),
		order(p1.Unknown, p2.Unknown),
		cmp.Compare(depth2, depth1),
		order(p1.Reason == waitingForDependency, p2.Reason == waitingForDependency),
		order(p1.isSummary(), p2.isSummary()),
	)
}

func boolToInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// waitingForDependency is the reason of a part that waits for another part of its object.
const waitingForDependency = "WaitingForDependency"

func (p Problem) isSummary() bool { return p.Type == "Ready" || p.Type == "Available" }

// isWaiting returns the reasons of conditions that are on their way, or that repeat another object's condition. Cluster API has
// InspectionFailed and ConnectionDown while it cannot connect to the API server of the workload cluster, whose machines or load balancer
// have the cause.
func (p Problem) isWaiting() bool {
	switch p.Reason {
	case "Creating", "Updating", "Deleting", "VMCreating", "VMUpdating", "VMDeleting", "InspectionFailed", "ConnectionDown",
		"NotReady", "NotAvailable", "NotProvisioned", "NotInitialized", "NodeNotHealthy", "NotUpToDate", "DoesNotExist", "ProbeFailed":
		return true
	}
	return strings.HasPrefix(p.Reason, "Waiting") || strings.HasSuffix(p.Reason, "DoesNotExist") || strings.HasSuffix(p.Reason, "NotReady")
}

// processOf returns the process that reconciles a kind.
func processOf(kind string) string {
	switch {
	case strings.HasPrefix(kind, "Azure"):
		return "capz-manager"
	case strings.HasSuffix(kind, "ControlPlane"):
		return "capi-kubeadm-control-plane"
	case strings.HasPrefix(kind, "KubeadmConfig"):
		return "capi-kubeadm-bootstrap"
	}
	return "capi-core"
}

// DescribeWithLog returns the cause with the log to read.
func (c *Cause) DescribeWithLog(logOf func(process string) string) string {
	return fmt.Sprintf("%s\n  more in %s", c, logOf(c.Process))
}

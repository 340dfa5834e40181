package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
)

// failedPath is the path of the state of a resource, reported as drift if the last operation failed.
const failedPath = "properties.provisioningState"

// Intervals after which the object is reconciled again if no event wakes it.
const (
	// wakeTimeout covers the loss of an expected wake.
	wakeTimeout = 2 * time.Minute
	// followTimeout does so for operations that are followed until they end.
	followTimeout = 5 * time.Minute
	// specRetryAfter is for errors that only a change of the spec resolves.
	specRetryAfter = 10 * time.Minute
	// blockedRetryAfter is for nodes that the plan cannot render yet.
	blockedRetryAfter = 30 * time.Second
	// writeBlockedRetryAfter is for writes that Azure does not accept for now. Another program may end that without a notice.
	writeBlockedRetryAfter = time.Minute
)

// decide returns the decision about a resource. It is pure and the only place of decisions: the engine sends no write without one.
func decide(s situation) decision {
	if s.removing {
		return decideRemoval(s)
	}
	node := s.node
	switch {
	case s.found.Exists && !s.owned && s.ownershipErr == nil && s.otherOwnerTag == "" && node.Foreign == arm.AdoptForeign:
		if node.PlannedWithTag {
			return decision{step: stepReport, state: arm.Waiting, message: "its ownership changed since it was planned; planning again",
				retryAfter: time.Second}
		}
		return decision{step: stepAdopt}
	case node.Refused != "":
		return reportFailure(arm.Refusal(node.Refused))
	case node.Blocked != "":
		return decision{step: stepReport, state: arm.Waiting, message: node.Blocked, retryAfter: blockedRetryAfter}
	case s.running.state != "":
		return awaitOperation(s)
	case !s.found.WasRead() && s.makerMissing:
		return awaitMaker(s)
	case !s.found.WasRead() || s.outdated:
		// An operation ended after the last read, so that read is outdated. Another round follows.
		return decision{step: stepReadAgain, state: arm.Waiting, retryAfter: time.Second}
	case s.found.Err != nil:
		return reportReadFailure(s, s.found.Err)
	case !s.owned && s.ownershipErr != nil && node.Policy != arm.Observe:
		return reportReadFailure(s, s.ownershipErr)
	case s.typeErr != nil:
		return reportFailure(s.typeErr)
	case !s.compared:
		return decision{step: stepCompare}
	case s.bodyErr != nil:
		return reportFailure(s.bodyErr)
	case !s.found.Exists && node.Policy == arm.TagOnly && s.blocker != "":
		return awaitMaker(s)
	}
	d := decideChange(s)
	if d.method == "" {
		return d
	}
	return decideWrite(s, d)
}

// awaitOperation waits for the running operation. The message has the error of its status, or of the previous try.
func awaitOperation(s situation) decision {
	d := decision{step: stepJoin, state: s.running.state, message: retryMessage(s.running.lastErr), retryAfter: followTimeout}
	if s.running.statusErr != nil {
		d.message = "Azure did not return the status of the operation: " + s.running.statusErr.Error()
	}
	return d
}

// retryMessage returns the message for a retry after an error, "" if there was none.
func retryMessage(last error) string {
	if last == nil {
		return ""
	}
	return "new try after the error: " + last.Error()
}

// decideChange returns the change that brings the resource in line, whether or not it can be made now.
func decideChange(s situation) decision {
	node := s.node
	if !s.found.Exists {
		switch {
		case node.Policy == arm.Observe:
			return reportRefusal(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusNotFound, Code: CodeMissing,
				Message: fmt.Sprintf("%s does not exist. The spec names it as an existing resource, so the provider does not create it. Create it or correct the spec", node.ID)})
		case node.Body == nil || node.Policy == arm.TagOnly:
			// Azure creates it with another node.
			return decision{step: stepClearFailure, state: arm.Ready}
		}
		return decision{method: http.MethodPut, state: arm.Creating}
	}
	inProgress, failed := s.found.Head().State()
	if s.ownershipTagRemoved && !s.owned && s.otherOwnerTag == "" && !usesForeign(s) {
		return reportRefusal(s, ownershipTagError(s))
	}
	if !s.owned || node.Policy == arm.Observe || node.Body == nil {
		return decideForeign(s, inProgress)
	}
	switch {
	case inProgress != "":
		return decision{step: stepFollow, state: inProgress, retryAfter: followTimeout}
	case failed && (keepsFailed(s) || node.Policy == arm.TagOnly):
		return reportRefusal(s, s.failure)
	case failed:
		return decision{method: http.MethodPut, state: arm.Updating, drift: []string{failedPath}}
	case len(s.differences) == 0 || s.normalized:
		return decision{step: stepAlign, state: arm.Ready}
	}
	paths := compare.PathsOf(s.differences)
	tags := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !strings.HasPrefix(path, "tags.") })
	if node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly {
		rest := slices.DeleteFunc(paths, func(path string) bool {
			return slices.Contains(tags, path) || slices.Contains(s.origin.normalized, path)
		})
		if len(tags) > 0 {
			return decision{method: http.MethodPatch, state: arm.Updating, drift: append(tags, rest...)}
		}
		return decision{step: stepAlign, state: arm.Ready, drift: rest}
	}
	if len(tags) == len(paths) && s.row.TagsWrittenSeparately {
		return decision{method: http.MethodPatch, state: arm.Updating, drift: tags}
	}
	return decision{method: http.MethodPut, state: arm.Updating, drift: paths}
}

// decideForeign decides about resources that the engine does not write.
func decideForeign(s situation, inProgress arm.State) decision {
	node := s.node
	using := usesForeign(s)
	switch {
	case s.sameNameOwner != "":
		return reportRefusal(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusOK, Code: CodeNotOwned,
			Message: sameNameMessage(s)})
	case s.otherOwnerTag != "" && node.OtherCluster == arm.RefuseOtherCluster && !s.owned && !s.hasRecord:
		return reportRefusal(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusOK, Code: CodeNotOwned,
			Message: otherClusterMessage(s)})
	case using && (inProgress == arm.Deleting || inProgress == arm.Creating):
		return decision{step: stepFollow, state: inProgress, retryAfter: followTimeout}
	case s.owned:
		return decision{step: stepAlign, state: arm.Ready}
	case node.Policy == arm.Repair && node.Foreign == arm.RefuseForeign && matchesUntagged(s) && slices.ContainsFunc(s.differences, isRenewed) &&
		!s.normalized:
		// It has the body of the plan, so the PUT changes only the state.
		return decision{method: http.MethodPut, state: arm.Updating, drift: compare.PathsOf(s.differences)}
	case using:
		return decision{step: stepClearFailure, state: arm.Foreign}
	case matchesUntagged(s):
		// The resource has no tags that could show an owner, and it matches the plan.
		return decision{step: stepClearFailure, state: arm.Foreign}
	}
	message := fmt.Sprintf("%s already exists without the ownership tag %s=%s, so the provider does not manage it. To continue, delete it, choose another name in the spec, or add the tag to let the provider manage it",
		node.ID, s.owner.TagKey, s.owner.TagValue)
	if s.otherOwnerTag != "" {
		message = otherClusterMessage(s)
	}
	if !s.row.Taggable {
		message = fmt.Sprintf("%s already exists, was not created for this cluster and differs from the spec (%s). Delete it or choose another name in the spec",
			node.ID, strings.Join(compare.PathsOf(s.differences), ", "))
	}
	return reportRefusal(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusOK, Code: CodeNotOwned, Message: message})
}

// usesForeign reports whether the plan accepts a foreign resource: users may bring it, or it matches the plan and its type has no tags.
func usesForeign(s situation) bool {
	return s.node.Policy == arm.Observe || s.node.Foreign == arm.UseForeign || s.node.Body == nil || matchesUntagged(s)
}

// isOwnedByOthers reports whether the resource exists, the object does not own it, and the plan does not use it.
func isOwnedByOthers(s situation) bool {
	switch {
	case s.node == nil, s.removing, !s.found.Exists, s.owned, s.ownershipErr != nil, s.ownershipTagRemoved, s.running.state != "":
		return false
	case s.node.Foreign == arm.AdoptForeign:
		return s.otherOwnerTag != ""
	}
	return !usesForeign(s)
}

// matchesUntagged reports whether a resource without tags has the body of the plan. Its state may need a renewal.
func matchesUntagged(s situation) bool { return !s.row.Taggable && hasPlannedBody(s) }

// hasPlannedBody reports whether a resource differs from the plan in states that a PUT of the same body ends, or not at all.
func hasPlannedBody(s situation) bool {
	return !slices.ContainsFunc(s.differences, func(d compare.Difference) bool { return !isRenewed(d) })
}

func isRenewed(d compare.Difference) bool { return d.Renewed }

// otherClusterMessage returns the message about a resource with the tag of another cluster.
func otherClusterMessage(s situation) string {
	return fmt.Sprintf("%s carries the tag %s=%s of another cluster and lacks %s=%s, so the provider does not manage it. Choose another name in the spec. To hand it over, delete the other cluster and remove its tag",
		s.node.ID, s.otherOwnerTag, s.owner.TagValue, s.owner.TagKey, s.owner.TagValue)
}

// sameNameMessage returns the message about a resource of another cluster with the same name.
func sameNameMessage(s situation) string {
	ownID := s.owner.ID
	if ownID == "" {
		ownID = "an owner without an ID"
	}
	return fmt.Sprintf("%s belongs to %s by its tag %s, and this is %s, so the provider does not manage it. Choose another resource group or another name of the Cluster. "+
		"If both are the same cluster, as after a restore without annotations, set the tag to %q on all resources that carry it",
		s.node.ID, s.sameNameOwner, s.owner.IDKey, ownID, s.owner.ID)
}

// decideWrite checks whether the write of d can be sent now.
func decideWrite(s situation, d decision) decision {
	if why := denialOf(s, d); why != "" {
		out := reportFailure(arm.Refusal(why))
		out.drift = d.drift
		return out
	}
	switch {
	case s.blocker != "":
		return decision{step: stepReport, state: arm.Blocked, blockedBy: s.blocker}
	case s.node.WriteBlocked != "" && !s.observing:
		return decision{step: stepReport, state: arm.Waiting, message: s.node.WriteBlocked, drift: d.drift, retryAfter: writeBlockedRetryAfter}
	case s.retryAfter > 0 && !s.observing:
		return awaitRetry(s)
	case s.row.Taggable && !s.bodyTagged && !(s.node.Foreign == arm.AdoptForeign && s.found.Exists):
		out := reportFailure(fmt.Errorf("%s: the body of the plan lacks the ownership tag %s=%s, so its owner would be unknown", s.id,
			s.owner.TagKey, s.owner.TagValue))
		out.drift = d.drift
		return out
	case s.observing:
		return intendWrite(s, d)
	case !s.found.Exists && !s.row.Taggable && !s.ownedAbove && !s.inInventory:
		return decision{step: stepAddToInventory, state: arm.Waiting, message: "waits for the inventory to be stored",
			retryAfter: 50 * time.Millisecond}
	}
	d.confirmAbsence = s.found.FromList && !s.found.Exists
	if s.row.SendsIfMatch && s.found.Exists && d.method == http.MethodPut {
		d.etag = s.found.ETag
	}
	return claimThenSend(s, d)
}

// denialOf returns why a write is not allowed, "" if it is. A PATCH writes only tags.
func denialOf(s situation, d decision) string {
	if d.method == http.MethodPatch && !slices.ContainsFunc(s.node.Denials,
		func(denial arm.Denial) bool { return denial.Reference.ID == "" }) {
		return ""
	}
	return s.denial
}

// claimThenSend sends a write after the engine has claimed the resource and its document.
func claimThenSend(s situation, d decision) decision {
	serial := s.row.SerialKey(s.id)
	switch {
	case !s.claimed:
		d.step = stepClaim
		return d
	case s.holder.id.Equal(s.id):
		return decision{step: stepQueue, state: s.holder.state, drift: d.drift, retryAfter: wakeTimeout}
	case s.holder.id != "":
		return decision{step: stepQueue, state: arm.Waiting, drift: d.drift, retryAfter: wakeTimeout,
			message: fmt.Sprintf("waits for %s: writes to %s go one by one", s.holder.id.ShortName(), serial.ShortName())}
	case s.writtenSince || s.etagOutdated && s.row.SendsIfMatch && s.found.Exists:
		return decision{step: stepReadAgain, state: arm.Waiting, retryAfter: 100 * time.Millisecond}
	}
	// Azure refuses some requests only after seconds, when the convergence is over. Until then the message has the previous error.
	d.step, d.message, d.retryAfter = stepSend, retryMessage(s.failure), followTimeout
	return d
}

// awaitMaker reports a node that Azure creates with another resource, which is not in place.
func awaitMaker(s situation) decision {
	d := decision{step: stepReport, state: arm.Blocked, blockedBy: s.blocker}
	if s.createdWith != "" {
		d.message, d.readFailed = "is created with "+s.createdWith.ShortName(), s.makerReadFailed
	}
	return d
}

// reportReadFailure reports a resource that could not be read. An error that affects every request is reported once; the other
// resources are blocked by the first one.
func reportReadFailure(s situation, err error) decision {
	switch {
	case s.sameErrorAs != "":
		return decision{step: stepReport, state: arm.Blocked, blockedBy: s.sameErrorAs, readFailed: true}
	case !s.failureCounted:
		return decision{step: stepCountReadFailure, err: err}
	}
	return decision{step: stepReport, state: failureState(err, 0), err: err, message: arm.DescribeRetry(err), readFailed: true,
		retryAfter: max(s.readRetryAfter, 100*time.Millisecond)}
}

// awaitRetry reports an error until the next try is due.
func awaitRetry(s situation) decision {
	d := decision{step: stepReport, state: failureState(s.failure, s.failingFor), err: s.failure, message: arm.DescribeRetry(s.failure),
		retryAfter: s.retryAfter}
	if d.state == arm.Failed && arm.IsMissingPrincipal(s.failure) {
		d.message = missingPrincipalMessage(s) + "; " + d.message
	}
	return d
}

// missingPrincipalMessage explains that a principal is not new, as Azure's text supposes.
func missingPrincipalMessage(s situation) string {
	return fmt.Sprintf("Azure has not found the principal %s of %s in the tenant of the subscription for %s. A new one is found after minutes, so this one does "+
		"not exist. If the spec has its ID, correct the ID. If it is the system-assigned identity of a VM or scale set, replace the Machine or the pool", s.principal, s.id.ShortName(), maxDirectoryDelay)
}

// reportFailure reports an error that only a change of the spec resolves.
func reportFailure(err error) decision {
	return decision{step: stepReport, state: arm.Failed, err: err, retryAfter: specRetryAfter}
}

// reportRefusal reports an error that a change in Azure or of the spec resolves.
func reportRefusal(s situation, err error) decision {
	return decision{step: stepReport, state: arm.Failed, err: err, message: "next try in a few minutes",
		retryAfter: arm.BackOff(arm.Classify(err), 5, s.jitter)}
}

// maxReplicationDelay is how long a write may be refused because a resource that it needs is not visible in all of Azure yet. It takes seconds,
// and users of kstatus give up on an object at its first failure.
const maxReplicationDelay = 30 * time.Second

// maxDirectoryDelay is how long a role assignment may be refused because its principal is not visible in all of the directory yet, which takes
// minutes.
const maxDirectoryDelay = 15 * time.Minute

// replicationDelay returns how long Azure may give the answer err because something new is not visible in all of Azure yet, 0 for other
// errors.
func replicationDelay(err error) time.Duration {
	switch {
	case arm.IsMissingPrincipal(err):
		return maxDirectoryDelay
	case arm.IsMissingReference(err):
		return maxReplicationDelay
	}
	return 0
}

// failureState returns the state of a resource that fails with err since the time failingFor.
func failureState(err error, failingFor time.Duration) arm.State {
	if delay := replicationDelay(err); delay > 0 {
		if failingFor < delay {
			return arm.Waiting
		}
		return arm.Failed
	}
	switch arm.Classify(err) {
	case arm.ClassWaiting, arm.ClassRetry:
		return arm.Waiting
	}
	return arm.Failed
}

// keepsFailed reports whether a failed resource is left for replacement.
func keepsFailed(s situation) bool { return s.row.KeepFailed && s.node.Policy == arm.CreateOnly }

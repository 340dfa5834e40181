package engine

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/cluster-api-provider-azure/internal/arm"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/compare"
	"sigs.k8s.io/cluster-api-provider-azure/internal/arm/observe"
)

// failedPath is where a resource says that its last operation failed.
const failedPath = "properties.provisioningState"

// How long to wait when nothing is known to wake the object.
const (
	// safety is when a pass is worth doing although a wake is expected, in case that got lost.
	safety = 2 * time.Minute
	// followed is the same for what is followed until its end is seen.
	followed = 5 * time.Minute
	// untilChanged is for what only another spec changes.
	untilChanged = 10 * time.Minute
	// untilRendered is for what a plan cannot render yet.
	untilRendered = 30 * time.Second
)

// decide says what to do about a resource. It is pure, and the only place that decides: what it does not tell to write is
// not written.
func decide(s situation) decision {
	if s.remove {
		return decideRemoval(s)
	}
	node := s.node
	switch {
	case s.found.Exists && !s.owned && s.rival == "" && node.Foreign == arm.AdoptForeign:
		if node.PlannedWithTag {
			return decision{do: report, state: arm.Waiting, message: "was planned before somebody else made it or took its tag; is planned again", wait: time.Second}
		}
		return decision{do: adopt}
	case node.Refused != "":
		return failed(arm.Refusal(node.Refused))
	case node.Blocked != "":
		return decision{do: report, state: arm.Waiting, message: node.Blocked, wait: untilRendered}
	case s.under.state != "":
		return joined(s)
	case !s.found.Seen() && s.pointless:
		return comesWith(s)
	case !s.found.Seen() || s.outdated:
		// An operation ended after the last look; there is another round. What was seen before it is not what it left.
		return decision{do: again, state: arm.Waiting, wait: time.Second}
	case s.found.Err != nil:
		return unreadable(s, s.found.Err)
	case s.unknown != nil:
		return failed(s.unknown)
	case !s.compared:
		return decision{do: examine}
	case s.broken != nil:
		return failed(s.broken)
	case !s.found.Exists && node.Policy == arm.TagOnly && s.blocker != "":
		return comesWith(s)
	}
	d := wanted(s)
	if d.write == "" {
		return d
	}
	return decideWrite(s, d)
}

// joined waits for what is under way, and says what is wrong with it, or how the same failed before.
func joined(s situation) decision {
	d := decision{do: join, state: s.under.state, message: triedAgain(s.under.last), wait: followed}
	if s.under.trouble != nil {
		d.message = "Azure does not tell how it is going: " + s.under.trouble.Error()
	}
	return d
}

// triedAgain says that something is done which failed the last time; nil is that it did not.
func triedAgain(last error) string {
	if last == nil {
		return ""
	}
	return "is tried again after: " + last.Error()
}

// wanted says what brings the resource in line, regardless of whether that is possible.
func wanted(s situation) decision {
	node := s.node
	if !s.found.Exists {
		switch {
		case node.Policy == arm.Observe:
			return refused(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusNotFound, Code: CodeMissing,
				Message: fmt.Sprintf("%s does not exist: the spec names it as one to be used and not to be made; create it or correct the spec", node.ID)})
		case node.Body == nil || node.Policy == arm.TagOnly:
			// Another node makes it.
			return decision{do: settle, state: arm.Ready}
		}
		return decision{write: http.MethodPut, state: arm.Creating}
	}
	doing, broken := observe.Provisioning(s.found.Body)
	if s.lost && !s.owned && s.rival == "" && !usesForeign(s) {
		return refused(s, tagLost(s))
	}
	if !s.owned || node.Policy == arm.Observe || node.Body == nil {
		return decideOthers(s, doing)
	}
	switch {
	case doing != "":
		return decision{do: follow, state: doing, wait: followed}
	case broken && (keepsFailed(s) || node.Policy == arm.TagOnly):
		return refused(s, s.failure)
	case broken:
		return decision{write: http.MethodPut, state: arm.Updating, drift: []string{failedPath}}
	case len(s.differences) == 0 || s.remains:
		return decision{do: align, state: arm.Ready}
	}
	paths := compare.PathsOf(s.differences)
	tags := slices.DeleteFunc(slices.Clone(paths), func(path string) bool { return !strings.HasPrefix(path, "tags.") })
	if node.Policy == arm.CreateOnly || node.Policy == arm.TagOnly {
		rest := slices.DeleteFunc(paths, func(path string) bool { return slices.Contains(tags, path) || slices.Contains(s.origin.kept, path) })
		if len(tags) > 0 {
			return decision{write: http.MethodPatch, state: arm.Updating, drift: append(tags, rest...)}
		}
		return decision{do: align, state: arm.Ready, drift: rest}
	}
	if len(tags) == len(paths) && s.row.TagsWrittenSeparately {
		return decision{write: http.MethodPatch, state: arm.Updating, drift: tags}
	}
	return decision{write: http.MethodPut, state: arm.Updating, drift: paths}
}

// decideOthers is for resources that the engine does not write.
func decideOthers(s situation, doing arm.State) decision {
	node := s.node
	using := usesForeign(s)
	switch {
	case s.namesake != "":
		return refused(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusOK, Code: CodeNotOwned, Message: contested(s)})
	case s.rival != "" && node.OtherCluster == arm.RefuseOtherCluster && !s.owned && !s.begun:
		return refused(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusOK, Code: CodeNotOwned, Message: ofAnother(s)})
	case using && (doing == arm.Deleting || doing == arm.Creating):
		return decision{do: follow, state: doing, wait: followed}
	case s.owned:
		return decision{do: align, state: arm.Ready}
	case using:
		return decision{do: settle, state: arm.Foreign}
	case asWanted(s):
		// It carries no tag to tell whose it is, and is what the plan wants.
		return decision{do: settle, state: arm.Foreign}
	}
	message := fmt.Sprintf("%s exists and is not tagged %s=%s, so it is taken for somebody else's and left alone: delete it, name another one in the spec, or tag it to hand it over",
		node.ID, s.owner.TagKey, s.owner.TagValue)
	if s.rival != "" {
		message = ofAnother(s)
	}
	if !s.row.Taggable {
		message = fmt.Sprintf("%s exists, was not made for this cluster and differs from what it needs (%s): delete it or name another one in the spec",
			node.ID, strings.Join(compare.PathsOf(s.differences), ", "))
	}
	return refused(s, &arm.Error{Method: http.MethodGet, ID: node.ID, Status: http.StatusOK, Code: CodeNotOwned, Message: message})
}

// usesForeign tells whether the plan goes on with a resource of somebody else's: users may bring it, or it is as wanted and has no tag to
// tell whose it is.
func usesForeign(s situation) bool {
	return s.node.Policy == arm.Observe || s.node.Foreign == arm.UseForeign || s.node.Body == nil || asWanted(s)
}

func asWanted(s situation) bool { return len(s.differences) == 0 && !s.row.Taggable }

// ofAnother says that a resource carries the tag of another cluster.
func ofAnother(s situation) string {
	return fmt.Sprintf("%s carries the tag %s=%s of another cluster and not %s=%s, so it is left alone: name another one in the spec, or let the other cluster go and remove its tag to hand it over",
		s.node.ID, s.rival, s.owner.TagValue, s.owner.TagKey, s.owner.TagValue)
}

// contested says that a resource is that of a cluster with the same name, whoever looks after that.
func contested(s situation) string {
	us := s.owner.ID
	if us == "" {
		us = "an owner without an ID"
	}
	return fmt.Sprintf("%s belongs to %s by its tag %s, and this is %s, so it is left alone: name another resource group or Cluster; "+
		"where both are the same cluster, as after a restore without annotations, set the tag to %q on all that carry it to hand them over",
		s.node.ID, s.namesake, s.owner.IDKey, us, s.owner.ID)
}

// decideWrite says whether a write that would bring the resource in line can be sent.
func decideWrite(s situation, d decision) decision {
	if why := denied(s, d); why != "" {
		out := failed(arm.Refusal(why))
		out.drift = d.drift
		return out
	}
	switch {
	case s.blocker != "":
		return decision{do: report, state: arm.Blocked, blockedBy: s.blocker}
	case s.wait > 0:
		return backOff(s)
	case s.row.Taggable && !s.tagged && !(s.node.Foreign == arm.AdoptForeign && s.found.Exists):
		out := failed(fmt.Errorf("%s: the plan's body lacks the tag %s=%s, so it could not be told whose it is", s.id, s.owner.TagKey, s.owner.TagValue))
		out.drift = d.drift
		return out
	case !s.found.Exists && !s.row.Taggable && !s.ownedAbove && !s.recorded:
		return decision{do: enlist, state: arm.Waiting, message: "waits until it is recorded in the inventory", wait: 50 * time.Millisecond}
	}
	d.confirm = s.found.FromList && !s.found.Exists
	if s.row.SendsIfMatch && s.found.Exists && d.write == http.MethodPut {
		d.etag = s.found.ETag
	}
	return sendOnce(s, d)
}

// denied says why a write may not be sent, "" if it may. A PATCH writes only tags.
func denied(s situation, d decision) string {
	if d.write == http.MethodPatch && !slices.ContainsFunc(s.node.Denials, func(denial arm.Denial) bool { return denial.Reference.ID == "" }) {
		return ""
	}
	return s.denied
}

// sendOnce has a write sent when the resource is ours to write.
func sendOnce(s situation, d decision) decision {
	serial := s.row.SerialKey(s.id)
	switch {
	case !s.claimed:
		d.do = claim
		return d
	case s.holder.id.Equal(s.id):
		return decision{do: queue, state: s.holder.state, drift: d.drift, wait: safety}
	case s.holder.id != "":
		return decision{do: queue, state: arm.Waiting, drift: d.drift, wait: safety,
			message: fmt.Sprintf("waits for %s: writes to %s go one by one", s.holder.id.ShortName(), serial.ShortName())}
	case s.overtaken || s.oldETag && s.row.SendsIfMatch && s.found.Exists:
		return decision{do: again, state: arm.Waiting, wait: 100 * time.Millisecond}
	}
	// Some requests are refused only after seconds, so passes end before that: what is wrong is told meanwhile.
	d.do, d.message, d.wait = send, triedAgain(s.failure), followed
	return d
}

// comesWith reports a node that Azure makes together with one that is not in place.
func comesWith(s situation) decision {
	d := decision{do: report, state: arm.Blocked, blockedBy: s.blocker}
	if s.maker != "" {
		d.message, d.unseen = "is made with "+s.maker.ShortName(), s.makerUnseen
	}
	return d
}

// unreadable reports a resource that could not be read. An error that every request would meet is reported once: the
// other resources are blocked by the first.
func unreadable(s situation, err error) decision {
	switch {
	case s.same != "":
		return decision{do: report, state: arm.Blocked, blockedBy: s.same, unseen: true}
	case !s.counted:
		return decision{do: count, err: err}
	}
	return decision{do: report, state: stateOf(err), err: err, message: arm.DescribeRetry(err), unseen: true, wait: max(s.readWait, 100*time.Millisecond)}
}

// backOff reports an error until it is time to try again.
func backOff(s situation) decision {
	return decision{do: report, state: stateOf(s.failure), err: s.failure, message: arm.DescribeRetry(s.failure), wait: s.wait}
}

// failed reports what only another spec changes.
func failed(err error) decision {
	return decision{do: report, state: arm.Failed, err: err, wait: untilChanged}
}

// refused reports what somebody has to change in Azure, or in the spec.
func refused(s situation, err error) decision {
	return decision{do: report, state: arm.Failed, err: err, message: "looked at again every few minutes", wait: arm.BackOff(arm.Classify(err), 5, s.jitter)}
}

// stateOf is the state of a resource that failed with err.
func stateOf(err error) arm.State {
	switch arm.Classify(err) {
	case arm.ClassWaiting, arm.ClassRetry:
		return arm.Waiting
	}
	return arm.Failed
}

// keepsFailed tells whether a failed resource stays as it is.
func keepsFailed(s situation) bool { return s.row.KeepFailed && s.node.Policy == arm.CreateOnly }

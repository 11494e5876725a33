// Package delivery takes webhook events to their receivers. Signing, the retry schedule, the rules for targets,
// guarded dialling, the sending of one attempt and the dispatch of many belong here; what an event is, when it
// arises and how deliveries are stored do not.
package delivery

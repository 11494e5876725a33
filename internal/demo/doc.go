// Package demo fills a throw-away company with courses, people and a history,
// and lets simulated learners go on learning while one looks around. It does
// everything through the use cases that real callers have.
package demo

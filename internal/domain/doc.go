// Package domain holds the nouns of coursebridge and their rules: what a valid
// employee or assignment is, how an assignment's status moves, which answer a
// provisioning call deserves. It knows no clock, no database and no HTTP; every
// instant it needs is an argument.
package domain

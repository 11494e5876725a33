// The contract's words, under the names that the Go package api/v1 has for them. contract.ts is generated from
// api/openapi.yaml.
import type { components } from "./contract.js";

type Schemas = components["schemas"];

export type Assignment = Schemas["Assignment"];
export type AssignmentCreated = Schemas["AssignmentCreated"];
export type AssignmentInput = Schemas["AssignmentInput"];
export type AssignmentList = Schemas["AssignmentList"];
export type AssignmentStatus = Schemas["AssignmentStatus"];
export type BulkResult = Schemas["BulkResult"];
export type BulkResults = Schemas["BulkResults"];
export type Course = Schemas["Course"];
export type CourseList = Schemas["CourseList"];
export type Employee = Schemas["Employee"];
export type EmployeeList = Schemas["EmployeeList"];
export type EmployeeRemoved = Schemas["EmployeeRemoved"];
export type EmployeeUpdate = Schemas["EmployeeUpdate"];
export type EmployeeUpdateResult = Schemas["EmployeeUpdateResult"];
export type EmployeeWithAssignments = Schemas["EmployeeWithAssignments"];
export type ErrorCode = Schemas["ErrorCode"];
export type ErrorResponse = Schemas["ErrorResponse"];
export type Event = Schemas["Event"];
export type EventKind = Schemas["EventKind"];
export type FieldError = Schemas["FieldError"];
export type Offboarded = Schemas["Offboarded"];
export type Progress = Schemas["Progress"];
export type ProvisionInput = Schemas["ProvisionInput"];
export type Provisioned = Schemas["Provisioned"];
export type Results = Schemas["Results"];
export type StatusCategory = Schemas["StatusCategory"];
export type Token = Schemas["Token"];

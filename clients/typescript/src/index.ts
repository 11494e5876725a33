// The public API of the package.
export { Client, type AssignmentFilter, type ClientOptions, type EmployeeFilter } from "./client.js";
export { CallError, errorCode } from "./error.js";
export { FileCheckpoint, MemoryCheckpoint, type Checkpoint, type SyncState } from "./sync.js";
export {
  RecentDeliveries,
  SignatureError,
  WebhookHandler,
  verifyWebhook,
  type Delivery,
  type HandledDeliveries,
  type WebhookOptions,
} from "./webhook.js";
export type * from "./types.js";

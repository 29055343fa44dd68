import type { RateLimitOptions } from '#rpc/rateLimit'
import { createRateTable } from '#rpc/rateTable'

/** A client that has a name, and a bucket of its own. */
export type ApiKey = RateLimitOptions['keys'][number]

/** Limits that several servers and threads share: whoever takes the same ones draws on the same buckets. */
export const sharedRateLimit = (limits: Omit<RateLimitOptions, 'table'>): RateLimitOptions => ({ ...limits, table: createRateTable() })

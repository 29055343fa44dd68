import type { RateLimitOptions } from '#rpc/limits/rateLimit'
import { createRateTable } from '#rpc/limits/rateTable'

/** A named client with a bucket of its own. */
export type ApiKey = RateLimitOptions['keys'][number]

/** Limits that several servers and threads share: all of them use the same buckets. */
export const sharedRateLimit = (limits: Omit<RateLimitOptions, 'table'>): RateLimitOptions => ({ ...limits, table: createRateTable() })

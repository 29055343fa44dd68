import type { IncomingMessage } from 'node:http'
import { clientNameOf } from '#lib/clientName'
import type { Clock } from '#lib/clock'
import { addressList, trueAddressOf } from '../server/clientAddress.ts'
import { type Bucket, type Rate, type RateRefusal, RateTable } from './rateTable.ts'

/** An API key with its own rate and bucket. */
export type ApiKey = Rate & { readonly key: string }

/** Rate limits of clients. Plain data that can be sent to threads. */
export type RateLimitOptions = {
  /** memory of the buckets, shared by the threads: `createRateTable` */
  readonly table: SharedArrayBuffer
  /** rate of a client without a key, per address */
  readonly rate: Rate
  readonly keys: readonly ApiKey[]
  /** addresses and networks whose `X-Forwarded-For` is trusted */
  readonly trustedProxies: readonly string[]
}

/** Identifying properties of a request's client: the remote address of its connection, and the headers X-Forwarded-For and X-Api-Key. */
export type ClientIdentity = {
  readonly address: string
  readonly forwardedFor?: string | undefined
  readonly apiKey?: string | undefined
  /** path of the request: `/KEY` also names a key */
  readonly target?: string | undefined
}

/** Identity in a request that node's HTTP server has parsed. */
export function identityOf({ socket, headers, url }: IncomingMessage): ClientIdentity {
  const [forwardedFor, apiKey] = [headers['x-forwarded-for']?.toString(), headers['x-api-key']?.toString()]
  return { address: socket.remoteAddress ?? '', forwardedFor, apiKey, target: url }
}

export interface RateLimiter {
  /** The bucket that pays for a client's calls. It follows later changes of the keys. */
  bucketOf(identity: ClientIdentity): Bucket
  /** Name of a client: its key, or its address as forwarded by trusted proxies. */
  nameOf(identity: ClientIdentity): string
  /** Replaces the keys, for open connections too. */
  setKeys(keys: readonly ApiKey[]): void
}

const mapOf = (keys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> => new Map(keys.map((key) => [key.key, key]))

const keyInTarget = /^\/([^/?]+)$/

/** Creates the limiter of all clients; an unknown key counts as none. */
export function createRateLimiter(clock: Clock, { table, rate, keys, trustedProxies }: RateLimitOptions): RateLimiter {
  const buckets = new RateTable(table, () => clock.nowMs())
  const proxies = addressList(trustedProxies)
  let byKey = mapOf(keys)

  const keyOf = ({ apiKey, target = '/' }: ClientIdentity): ApiKey | undefined =>
    byKey.get(apiKey ?? '') ?? byKey.get(keyInTarget.exec(target)?.[1] ?? '')

  function nameOf(identity: ClientIdentity): string {
    const key = keyOf(identity)
    return key === undefined ? clientNameOf(trueAddressOf(identity.address, identity.forwardedFor, proxies)) : `key ${key.key}`
  }

  const bucketNow = (identity: ClientIdentity): Bucket => buckets.bucket(nameOf(identity), keyOf(identity) ?? rate)

  return {
    nameOf,
    bucketOf(identity): Bucket {
      let known = byKey
      let bucket = bucketNow(identity)
      return {
        take(units): RateRefusal | undefined {
          if (known !== byKey) {
            known = byKey
            bucket = bucketNow(identity)
          }
          return bucket.take(units)
        },
      }
    },
    setKeys(given): void {
      byKey = mapOf(given)
    },
  }
}

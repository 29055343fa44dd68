import type { IncomingMessage } from 'node:http'
import { clientNameOf } from '#lib/clientName'
import type { Clock } from '#lib/clock'
import { type Bucket, type Rate, type RateRefusal, RateTable } from './rateTable.ts'
import { addressList, trueAddressOf } from './server/clientAddress.ts'

/** A client that has a name, and a bucket of its own. */
export type ApiKey = Rate & { readonly key: string }

/** How much each client may ask. Plain data: it goes to each thread as it is. */
export type RateLimitOptions = {
  /** memory of the buckets, shared by the threads: `createRateTable` */
  readonly table: SharedArrayBuffer
  /** of a client that is known by its address */
  readonly rate: Rate
  readonly keys: readonly ApiKey[]
  /** addresses and networks whose `X-Forwarded-For` is believed */
  readonly trustedProxies: readonly string[]
}

/** What a request says of who sends it. */
export type ClientIdentity = {
  /** of the other end of the connection */
  readonly address: string
  /** X-Forwarded-For */
  readonly forwardedFor?: string | undefined
  /** X-Api-Key */
  readonly apiKey?: string | undefined
  /** path of the request: `/KEY` names a key too */
  readonly target?: string | undefined
}

/** By a request that node's HTTP server has read. */
export function identityOf({ socket, headers, url }: IncomingMessage): ClientIdentity {
  const [forwardedFor, apiKey] = [headers['x-forwarded-for']?.toString(), headers['x-api-key']?.toString()]
  return { address: socket.remoteAddress ?? '', forwardedFor, apiKey, target: url }
}

export interface RateLimiter {
  /** Out of which bucket calls are paid, from now on: the one it has by the keys of the day. */
  bucketOf(identity: ClientIdentity): Bucket
  /** Name of a client: its key, or its address as proxies forward it. */
  nameOf(identity: ClientIdentity): string
  /** From now on these are the keys, for those who are connected too. */
  setKeys(keys: readonly ApiKey[]): void
}

const mapOf = (keys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> => new Map(keys.map((key) => [key.key, key]))

const keyInTarget = /^\/([^/?]+)$/

/** The limits of all clients; a key nobody has given out counts as none. */
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

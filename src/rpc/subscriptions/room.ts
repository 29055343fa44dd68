import { subscriptionsTooBig, tooManyLogTerms, tooManySubscriptions } from '../errors.ts'
import type { ByteBudget } from '../server/body.ts'
import type { MatcherUse } from '../sharedMatchers.ts'

/** Memory of a subscription without what it looks for, in bytes. */
const subscriptionBytes = 2_000
/** So many subscriptions of a connection have room whatever the others hold: the number of connections bounds them. */
const ownSubscriptions = 4

export type RoomLimits = {
  readonly maxSubscriptions: number
  /** memory of the subscriptions of one connection, roughly */
  readonly maxSubscriptionBytes: number
}

/** Bounds the subscriptions of one connection, in number and in bytes, and draws on what all connections of a thread share. */
export class SubscriptionRoom {
  readonly #shared: ByteBudget
  readonly #limits: RoomLimits
  #count = 0
  #bytes = 0

  constructor(shared: ByteBudget, limits: RoomLimits) {
    this.#shared = shared
    this.#limits = limits
  }

  /**
   * @param use what the subscription looks for; given back with the room, or at once when there is none
   * @throws RpcError −32006 when the connection has no room left, −32005 when all of them have none
   */
  take(use: MatcherUse | undefined): Disposable {
    const bytes = subscriptionBytes + (use?.bytes ?? 0)
    try {
      this.#check(bytes)
      const hold = this.#shared.hold()
      if (this.#count >= ownSubscriptions && !hold.take(subscriptionBytes)) throw tooManyLogTerms(this.#shared.maxBytes)
      this.#count++
      this.#bytes += bytes
      return {
        [Symbol.dispose]: (): void => {
          this.#count--
          this.#bytes -= bytes
          hold[Symbol.dispose]()
          use?.[Symbol.dispose]()
        },
      }
    } catch (error) {
      use?.[Symbol.dispose]()
      throw error
    }
  }

  #check(bytes: number): void {
    const { maxSubscriptions, maxSubscriptionBytes } = this.#limits
    if (this.#count >= maxSubscriptions) throw tooManySubscriptions(maxSubscriptions)
    if (this.#bytes + bytes > maxSubscriptionBytes) throw subscriptionsTooBig(maxSubscriptionBytes)
  }
}

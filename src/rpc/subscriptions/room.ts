import { subscriptionsTooBig, tooManyLogTerms, tooManySubscriptions } from '../errors.ts'
import type { TermsUse } from '../filters/sharedMatchers.ts'
import type { ByteBudget } from '../server/body.ts'

/** Memory of a subscription without its addresses, topics and hashes, in bytes. */
const subscriptionBytes = 2_000
/** Subscriptions per connection that do not count in the shared budget: the number of connections bounds them. */
const ownSubscriptions = 4

export type RoomLimits = {
  readonly maxSubscriptions: number
  /** approximate memory of the subscriptions of one connection */
  readonly maxSubscriptionBytes: number
}

/** Bounds the subscriptions of one connection in number and bytes, and charges the budget shared by all connections of a thread. */
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
   * @param use terms of the subscription; released with the room, or at once when a limit is reached
   * @throws RpcError −32006 at the limit of the connection, −32005 at the limit of all connections
   */
  take(use: TermsUse | undefined): Disposable {
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

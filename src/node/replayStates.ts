import { Buffer } from 'node:buffer'
import type { Account, StateView } from '#evm/ports'
import { emptyRoot, type Hash, zeroHash } from '#types/ids'
import type { AccountChange, StateDiff } from '#types/stateDiff'

/** A value from one step of a run on. */
type Version<T> = { readonly step: number; readonly value: T }

/** About what an entry takes beside its bytes. */
const entryBytes = 150

const latin = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1')
const isZero = (value: Uint8Array): boolean => value.every((byte) => byte === 0)

/** The last version that a step before `steps` has made. */
function versionBefore<T>(versions: readonly Version<T>[] | undefined, steps: number): Version<T> | undefined {
  if (versions === undefined) return undefined
  let [low, high] = [0, versions.length]
  while (low < high) {
    const middle = (low + high) >> 1
    if ((versions[middle] as Version<T>).step < steps) low = middle + 1
    else high = middle
  }
  return versions[low - 1]
}

function push<T>(map: Map<string, Version<T>[]>, name: string, version: Version<T>): void {
  const known = map.get(name)
  if (known === undefined) map.set(name, [version])
  else known.push(version)
}

/** The state between any two steps of a run (the system calls of a block, and each of its transactions): what each step changed, by key. */
export class ReplayStates {
  readonly #accounts = new Map<string, Version<AccountChange | null>[]>()
  readonly #wipes = new Map<string, Version<true>[]>()
  /** by account and slot */
  readonly #slots = new Map<string, Version<Uint8Array | undefined>[]>()
  /** accounts that got slots */
  readonly #stored = new Map<string, Version<true>[]>()
  readonly #codes = new Map<Hash, Uint8Array>()
  #steps = 0
  #bytes = 0

  /** How many were added. */
  get steps(): number {
    return this.#steps
  }

  /** Memory that it takes, about. */
  get sizeBytes(): number {
    return this.#bytes
  }

  /** What the next step has changed. */
  add(diff: StateDiff): void {
    const step = this.#steps++
    for (const { key, change, wiped } of diff.accounts()) {
      const name = latin(key)
      if (wiped) push(this.#wipes, name, { step, value: true })
      push(this.#accounts, name, { step, value: change })
      this.#bytes += entryBytes
    }
    let owner = ''
    for (const { addressKey, slotKey, value } of diff.slots()) {
      const name = latin(addressKey)
      if (name !== owner) push(this.#stored, name, { step, value: true })
      owner = name
      push(this.#slots, name + latin(slotKey), { step, value: isZero(value) ? undefined : value })
      this.#bytes += entryBytes
    }
    for (const { hash, code } of diff.codes()) {
      this.#codes.set(hash, code)
      this.#bytes += entryBytes + code.length
    }
  }

  /**
   * The state after so many steps.
   * @param below the state before the first one
   */
  after(steps: number, below: StateView): StateView {
    return {
      account: (addressKey): Account | undefined => this.#account(addressKey, steps, below),
      slot: (addressKey, slotKey): Uint8Array | undefined => this.#slot(addressKey, slotKey, steps, below),
      code: (hash): Uint8Array => this.#codes.get(hash) ?? below.code(hash),
      blockHash: (number): Hash | undefined => below.blockHash(number),
    }
  }

  /** The slots of an account that so many steps have written, by hashed key in latin-1 (undefined: zero), and whether it lost those it had. */
  slotsOf(addressKey: Uint8Array, steps: number): { readonly wiped: boolean; readonly slots: ReadonlyMap<string, Uint8Array | undefined> } {
    const owner = latin(addressKey)
    const wiped = versionBefore(this.#wipes.get(owner), steps)
    const slots = new Map<string, Uint8Array | undefined>()
    for (const [name, versions] of this.#slots) {
      const written = name.startsWith(owner) ? versionBefore(versions, steps) : undefined
      if (written !== undefined && written.step >= (wiped?.step ?? 0)) slots.set(name.slice(owner.length), written.value)
    }
    return { wiped: wiped !== undefined, slots }
  }

  #account(addressKey: Uint8Array, steps: number, below: StateView): Account | undefined {
    const name = latin(addressKey)
    const changed = versionBefore(this.#accounts.get(name), steps)
    if (changed?.value === null) return undefined
    const before = below.account(addressKey)
    const account = changed?.value ?? before
    return account && { ...account, storageRoot: this.#storageRoot(name, steps, before) }
  }

  /** Not the root itself, which nobody has computed: whether there is storage is all that a run asks of it. */
  #storageRoot(name: string, steps: number, before: Account | undefined): Hash {
    const wiped = versionBefore(this.#wipes.get(name), steps)?.step ?? -1
    const stored = versionBefore(this.#stored.get(name), steps)?.step ?? -1
    const root = wiped < 0 ? (before?.storageRoot ?? emptyRoot) : emptyRoot
    return root === emptyRoot && stored >= 0 && stored >= wiped ? zeroHash : root
  }

  #slot(addressKey: Uint8Array, slotKey: Uint8Array, steps: number, below: StateView): Uint8Array | undefined {
    const owner = latin(addressKey)
    const written = versionBefore(this.#slots.get(owner + latin(slotKey)), steps)
    const wiped = versionBefore(this.#wipes.get(owner), steps)
    if (written !== undefined && written.step >= (wiped?.step ?? 0)) return written.value
    return wiped === undefined ? below.slot(addressKey, slotKey) : undefined
  }
}

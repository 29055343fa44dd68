import fc from 'fast-check'
import { expect, it } from 'vitest'
import { keccak256 } from '#lib/keccak'
import { genesisState } from '#state/genesisState'
import { computeStateRoot } from '#state/stateRoot'
import { testAccount } from '#test/harness/evm/sessions'
import { emptyCodeHash, type Hash, hashFromBytes } from '#types/ids'
import { diffOf } from './diff.ts'
import { type AccountState, Journal } from './journal.ts'
import { addressOf, hashOf } from './words.ts'

const addresses = [1n, 2n, 3n, 4n]
const slots = [0n, 1n, 2n]
const codeOf = (n: number): Uint8Array => new Uint8Array(n).fill(n)
const hashOfCode = (code: Uint8Array): Hash => (code.length === 0 ? emptyCodeHash : hashFromBytes(keccak256(code)))

type ModelAccount = { nonce: bigint; balance: bigint; code: Uint8Array; slots: Map<bigint, bigint> }
/** The world as plain values; an undo restores a copy. */
type Model = {
  accounts: Map<bigint, ModelAccount>
  /** Storage at the start of the transaction. */
  originals: Map<bigint, Map<bigint, bigint>>
  transient: Map<string, bigint>
  warm: Set<string>
  touched: Set<bigint>
  created: Set<bigint>
  destroyed: Set<bigint>
  logs: number
}

const emptyAccount = (): ModelAccount => ({ nonce: 0n, balance: 0n, code: codeOf(0), slots: new Map() })
const slotsOf = (accounts: Model['accounts']): Model['originals'] => new Map([...accounts].map(([address, { slots }]) => [address, slots]))

function transactionOn(accounts: Model['accounts']): Model {
  const originals = slotsOf(structuredClone(accounts))
  const [touched, created, destroyed] = [new Set<bigint>(), new Set<bigint>(), new Set<bigint>()]
  return { accounts, originals, transient: new Map(), warm: new Set(), touched, created, destroyed, logs: 0 }
}

function endTransaction({ accounts, destroyed, touched }: Model): Model {
  for (const address of destroyed) accounts.delete(address)
  for (const address of touched) {
    const account = accounts.get(address)
    if (account?.nonce === 0n && account.balance === 0n && account.code.length === 0) accounts.delete(address)
  }
  return transactionOn(accounts)
}

/** Three of the four accounts: the first with code and storage, the second with wei, the third empty. */
const first: Model['accounts'] = new Map([
  [1n, { nonce: 1n, balance: 5n, code: codeOf(3), slots: new Map([[0n, 7n], [1n, 8n]]) }], // biome-ignore format: one line
  [2n, { ...emptyAccount(), balance: 9n }],
  [3n, emptyAccount()],
])

function worldOf(accounts: Model['accounts']): ReturnType<typeof genesisState> {
  const list = [...accounts].map(([address, account]) => ({
    ...testAccount(addressOf(address), {
      balance: account.balance,
      nonce: account.nonce,
      storage: new Map([...account.slots].filter(([, value]) => value !== 0n).map(([slot, value]) => [hashOf(slot), value])),
    }),
    code: account.code,
  }))
  return genesisState(list)
}

/** Journal and model, driven by the same steps. */
class Both {
  readonly #world = worldOf(first)
  readonly journal = new Journal(this.#world.state.view)
  model = transactionOn(structuredClone(first))
  checkpoints: { journal: number; model: Model }[] = []

  state(address: bigint): AccountState {
    return this.journal.account(address)
  }

  touched(address: bigint): ModelAccount {
    const account = this.model.accounts.get(address) ?? emptyAccount()
    this.model.accounts.set(address, account)
    this.model.touched.add(address)
    return account
  }

  end(): void {
    this.journal.endTransaction()
    this.model = endTransaction(this.model)
    this.checkpoints = []
  }

  expectSame(): void {
    const { journal, model } = this
    for (const address of addresses) {
      const known = model.accounts.get(address)
      const { exists, nonce, balance, codeHash } = this.state(address)
      const { code, ...numbers } = known ?? emptyAccount()
      expect({ exists, nonce, balance, codeHash }).toEqual({
        exists: known !== undefined,
        nonce: numbers.nonce,
        balance: numbers.balance,
        codeHash: hashOfCode(code),
      })
      expect(journal.code(codeHash)).toEqual(code)
      expect(journal.isWarm(this.state(address))).toBe(model.warm.has(`${address}`))
      expect(journal.isCreatedNow(this.state(address))).toBe(model.created.has(address))
      for (const number of slots) {
        const { value, original } = journal.slot(this.state(address), number)
        expect([value, original]).toEqual([numbers.slots.get(number) ?? 0n, model.originals.get(address)?.get(number) ?? 0n])
        expect(journal.isWarm(journal.knownSlot(this.state(address), number))).toBe(model.warm.has(`${address} ${number}`))
        expect(journal.transient(address, number)).toBe(model.transient.get(`${address} ${number}`) ?? 0n)
      }
    }
    expect(journal.logs()).toHaveLength(model.logs)
  }

  /** Between transactions: applying the diff to the initial world gives the model's state root. */
  expectSameRoot(): void {
    const { state, result } = this.#world
    expect(computeStateRoot(state.nodes, result.root, diffOf(this.journal)).root).toBe(worldOf(this.model.accounts).result.root)
  }
}

type Step = { readonly of: bigint; readonly to: bigint; readonly slot: bigint; readonly n: number }

/** All possible steps, applied to both sides. A step that the EVM could not take does nothing. */
const steps: Readonly<Record<string, (both: Both, step: Step) => void>> = {
  setBalance(both, { of, n }) {
    both.journal.setBalance(both.state(of), BigInt(n))
    both.touched(of).balance = BigInt(n)
  },
  setNonce(both, { of, n }) {
    both.journal.setNonce(both.state(of), BigInt(n))
    both.touched(of).nonce = BigInt(n)
  },
  setCode(both, { of, n }) {
    both.journal.setCode(both.state(of), codeOf(n))
    both.touched(of).code = codeOf(n)
  },
  transfer(both, { of, to, n }) {
    const wei = BigInt(n)
    const { accounts, touched } = both.model
    if ((accounts.get(of)?.balance ?? 0n) < wei) return
    both.journal.transfer(both.state(of), both.state(to), wei)
    if (wei > 0n) {
      both.touched(of).balance -= wei
      both.touched(to).balance += wei
    } else if (accounts.has(to)) touched.add(to)
  },
  create(both, { of }) {
    const { nonce, code, slots: stored } = both.model.accounts.get(of) ?? emptyAccount()
    if (nonce > 0n || code.length > 0 || stored.size > 0) return
    both.journal.create(both.state(of))
    both.touched(of).nonce = 1n
    both.model.created.add(of)
  },
  destroy(both, { of }) {
    if (!both.model.accounts.has(of)) return
    both.journal.destroy(both.state(of))
    both.model.destroyed.add(of)
  },
  setSlot(both, { of, slot, n }) {
    const account = both.model.accounts.get(of)
    if (!account) return
    both.journal.setSlot(both.journal.slot(both.state(of), slot), BigInt(n))
    account.slots.set(slot, BigInt(n))
  },
  setTransient(both, { of, slot, n }) {
    both.journal.setTransient(of, slot, BigInt(n))
    both.model.transient.set(`${of} ${slot}`, BigInt(n))
  },
  warmAccount(both, { of }) {
    both.journal.warm(both.state(of))
    both.model.warm.add(`${of}`)
  },
  warmSlot(both, { of, slot }) {
    both.journal.warm(both.journal.slot(both.state(of), slot))
    both.model.warm.add(`${of} ${slot}`)
  },
  log(both, { of }) {
    both.journal.log({ address: addressOf(of), topics: [], data: codeOf(0) })
    both.model.logs++
  },
  checkpoint(both) {
    both.checkpoints.push({ journal: both.journal.checkpoint(), model: structuredClone(both.model) })
  },
  revert(both, { n }) {
    const to = both.checkpoints[n % both.checkpoints.length]
    if (!to) return
    both.checkpoints.length = both.checkpoints.indexOf(to)
    both.journal.revertTo(to.journal)
    both.model = to.model
  },
  endTransaction(both) {
    both.end()
    both.expectSameRoot()
  },
}

const often = ['checkpoint', 'revert', 'destroy', 'setSlot']
const anyStep = fc.record({
  name: fc.constantFrom(...Object.keys(steps), ...often),
  of: fc.constantFrom(...addresses),
  to: fc.constantFrom(...addresses),
  slot: fc.constantFrom(...slots),
  n: fc.nat(4),
})

it('reference/journal: any steps, checkpoints and reverts over many transactions give the same world as copying', () => {
  fc.assert(
    fc.property(fc.array(anyStep, { maxLength: 60, size: 'max' }), fc.boolean(), (list, looksOften) => {
      const both = new Both()
      for (const { name, ...step } of list) {
        steps[name]?.(both, step)
        if (looksOften) both.expectSame()
      }
      both.expectSame()
      both.end()
      both.expectSame()
      both.expectSameRoot()
    }),
    { numRuns: 100 },
  )
})

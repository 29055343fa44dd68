import type { EvmFork } from '#chain/evmRules'
import type { Hash } from '#types/ids'

/** One outcome that others computed: a transaction of a state test under a fork. */
export type StateTestCase = {
  readonly fork: EvmFork
  /** indices of data, gas limit and value */
  readonly at: readonly [number, number, number]
  /** the signed transaction, hex */
  readonly raw: string
  /** of the state after the transaction; null: the transaction is refused */
  readonly root: Hash | null
  /** keccak of the RLP of the logs; null where the transaction is refused */
  readonly logs: Hash | null
}

/** Hex numbers by the names of the public format. */
export type StateTestEnv = Readonly<Record<string, string>>
export type StateTestAccount = {
  readonly nonce: string
  readonly balance: string
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

export type StateTest = {
  /** path below GeneralStateTests */
  readonly file: string
  readonly name: string
  readonly env: StateTestEnv
  readonly pre: Readonly<Record<string, StateTestAccount>>
  readonly sender: string
  readonly cases: readonly StateTestCase[]
}

type PublicCase = {
  readonly hash: Hash
  readonly logs: Hash
  readonly indexes: { readonly data: number; readonly gas: number; readonly value: number }
  readonly txbytes: string
  readonly expectException?: string
}
/** The format of the public state tests, as far as it is used here. */
export type PublicStateTest = {
  readonly env: StateTestEnv
  readonly pre: Readonly<Record<string, StateTestAccount>>
  readonly transaction: { readonly sender: string }
  readonly post: Readonly<Record<string, readonly PublicCase[]>>
}

/** Post states of another client: `[data, gas, value, root, logs]`, or `[…, null, null, reason]` for a refusal. */
export type LaterPosts = Readonly<Record<string, readonly (readonly [number, number, number, Hash | null, Hash | null])[]>>

const publicForks: Readonly<Record<string, EvmFork>> = { Paris: 'paris', Shanghai: 'shanghai', Cancun: 'cancun' }

/** A public test with what later post states say about it. Throws when those speak of a transaction that the test does not have. */
export function stateTestOf(file: string, name: string, test: PublicStateTest, later: LaterPosts): StateTest {
  const cases: StateTestCase[] = []
  for (const [forkName, posts] of Object.entries(test.post)) {
    const fork = publicForks[forkName]
    if (!fork) continue
    for (const { indexes, txbytes, expectException, hash, logs } of posts) {
      const at = [indexes.data, indexes.gas, indexes.value] as const
      cases.push({ fork, at, raw: txbytes, root: expectException ? null : hash, logs: expectException ? null : logs })
    }
  }
  for (const [data, gas, value, root, logs] of later['Prague'] ?? []) {
    const same = test.post['Cancun']?.find(({ indexes: i }) => i.data === data && i.gas === gas && i.value === value)
    if (!same) throw new Error(`${file} ${name}: a Prague post state without its transaction`)
    cases.push({ fork: 'prague', at: [data, gas, value], raw: same.txbytes, root, logs })
  }
  return { file, name, env: test.env, pre: test.pre, sender: test.transaction.sender, cases }
}

/** Names one case: `file::name[fork/data/gas/value]`. */
export function caseId(test: StateTest, { fork, at }: StateTestCase): string {
  return `${test.file}::${test.name}[${fork}/${at.join('/')}]`
}

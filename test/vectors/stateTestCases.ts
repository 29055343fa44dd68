import type { EvmFork } from '#chainspec/evmRules'
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

/** Post states of another client by fork: `[data, gas, value, root, logs]`, or `[…, null, null, reason]` for a refusal. */
export type LaterPosts = Readonly<Record<string, readonly (readonly [number, number, number, Hash | null, Hash | null])[]>>

const publicForks: Readonly<Record<string, EvmFork>> = { Paris: 'paris', Shanghai: 'shanghai', Cancun: 'cancun' }
const laterForks: Readonly<Record<string, EvmFork>> = { Prague: 'prague', Osaka: 'osaka' }

function publicCases(post: PublicStateTest['post']): StateTestCase[] {
  return Object.entries(post).flatMap(([forkName, posts]) => {
    const fork = publicForks[forkName]
    if (!fork) return []
    return posts.map(({ indexes, txbytes, expectException, hash, logs }) => {
      const at = [indexes.data, indexes.gas, indexes.value] as const
      return { fork, at, raw: txbytes, root: expectException ? null : hash, logs: expectException ? null : logs }
    })
  })
}

/** The transactions are those of Cancun. */
function laterCases(cancun: readonly StateTestCase[], later: LaterPosts, what: string): StateTestCase[] {
  const raws = new Map(cancun.map(({ at, raw }) => [at.join('/'), raw]))
  return Object.entries(later).flatMap(([forkName, posts]) => {
    const fork = laterForks[forkName]
    if (!fork) throw new Error(`${what}: post states of ${forkName}`)
    return posts.map(([data, gas, value, root, logs]) => {
      const at = [data, gas, value] as const
      const raw = raws.get(at.join('/'))
      if (raw === undefined) throw new Error(`${what}: a post state of ${forkName} without its transaction`)
      return { fork, at, raw, root, logs }
    })
  })
}

/** A public test with what later post states say about it. Throws when those speak of a transaction or a fork that the test does not have. */
export function stateTestOf(file: string, name: string, test: PublicStateTest, later: LaterPosts): StateTest {
  const cases = publicCases(test.post)
  const cancun = cases.filter(({ fork }) => fork === 'cancun')
  return {
    file,
    name,
    env: test.env,
    pre: test.pre,
    sender: test.transaction.sender,
    cases: [...cases, ...laterCases(cancun, later, `${file} ${name}`)],
  }
}

/** Names one case: `file::name[fork/data/gas/value]`. */
export function caseId(test: StateTest, { fork, at }: StateTestCase): string {
  return `${test.file}::${test.name}[${fork}/${at.join('/')}]`
}

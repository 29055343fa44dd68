import type { EvmFork } from '#chainspec/evmRules'
import type { Hash } from '#types/ids'

/** Result by another client: a transaction of a state test under a fork. */
export type StateTestCase = {
  readonly fork: EvmFork
  /** Indices of data, gas limit and value. */
  readonly at: readonly [number, number, number]
  /** Signed transaction in hex. */
  readonly raw: string
  /** State root after the transaction; null when the transaction is invalid. */
  readonly root: Hash | null
  /** Keccak of the RLP of the logs; null when the transaction is invalid. */
  readonly logs: Hash | null
}

/** Hex numbers by their names in the public format. */
export type StateTestEnv = Readonly<Record<string, string>>
export type StateTestAccount = {
  readonly nonce: string
  readonly balance: string
  readonly code: string
  readonly storage: Readonly<Record<string, string>>
}

export type StateTest = {
  /** Path below GeneralStateTests. */
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
/** Part of the public state test format that is used here. */
export type PublicStateTest = {
  readonly env: StateTestEnv
  readonly pre: Readonly<Record<string, StateTestAccount>>
  readonly transaction: { readonly sender: string }
  readonly post: Readonly<Record<string, readonly PublicCase[]>>
}

/** Post states of another client by fork: `[data, gas, value, root, logs]`, or `[…, null, null, reason]` for an invalid transaction. */
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

/** Cases of later forks, with Cancun's transactions. */
function laterCases(cancun: readonly StateTestCase[], later: LaterPosts, what: string): StateTestCase[] {
  const raws = new Map(cancun.map(({ at, raw }) => [at.join('/'), raw]))
  return Object.entries(later).flatMap(([forkName, posts]) => {
    const fork = laterForks[forkName]
    if (!fork) throw new Error(`${what}: unknown fork ${forkName} of post states`)
    return posts.map(([data, gas, value, root, logs]) => {
      const at = [data, gas, value] as const
      const raw = raws.get(at.join('/'))
      if (raw === undefined) throw new Error(`${what}: post state of ${forkName} without its transaction`)
      return { fork, at, raw, root, logs }
    })
  })
}

/** Joins a public test with later post states. Throws for a post state whose transaction or fork the test does not have. */
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

/** Id of a case: `file::name[fork/data/gas/value]`. */
export function caseId(test: StateTest, { fork, at }: StateTestCase): string {
  return `${test.file}::${test.name}[${fork}/${at.join('/')}]`
}

import { readFileSync } from 'node:fs'
import { zstdDecompressSync } from 'node:zlib'
import type { NativeFork } from '#chainspec/evmRules'
import type { Address, Hash } from '#types/ids'

// The format of the vectors of the native contracts: sequences of transactions with everything that consensus sees of each.

export type VectorAccount = {
  readonly balance?: string
  readonly nonce?: number | string
  readonly code?: string
  readonly storage?: Readonly<Record<string, string>>
}
export type VectorState = Readonly<Record<string, VectorAccount>>

/** depth, kind of call, caller, called address, gas given, gas used, refund counter, outcome */
export type VectorFrame = readonly [number, string, Address, Address, number, number, number, string]

export type VectorResult = {
  readonly kind: 'success' | 'revert' | 'halt'
  readonly gasUsed: number
  readonly output?: string
  readonly logs?: readonly (readonly [string, readonly string[], string])[]
  readonly post?: VectorState
  readonly frames: readonly VectorFrame[]
}

export type VectorTransaction = {
  readonly label?: string
  readonly fork?: NativeFork
  readonly number: number
  readonly timestamp: number
  readonly from: Address
  readonly to: Address
  readonly data: string
  readonly value?: string
  readonly gasLimit?: number
  readonly accessList?: readonly { readonly address: Address; readonly storageKeys: readonly Hash[] }[]
  /** The reference's answer rests on an adjustment that its README lists. */
  readonly adjusted?: boolean
  readonly result: VectorResult
}

export type VectorSequence = {
  readonly name: string
  readonly fork: NativeFork
  readonly pre: VectorState
  readonly activationAdmin?: Address
  readonly txs: readonly VectorTransaction[]
  readonly stateRoot: Hash
}

export type VectorFile = { readonly chainId: number; readonly defaultGasLimit: number; sequences(): Iterable<VectorSequence> }

type Written = Omit<VectorSequence, 'pre' | 'activationAdmin'> & {
  readonly pre: string | VectorState
  readonly activationAdmin: Address | null
}

const isLine = (line: string): boolean => line.startsWith('{')

/** Reads a file, one sequence at a time, because a file unpacks to 100 MB. @throws Error when the file is not of format 1 */
export function readVectors(path: string): VectorFile {
  const lines = zstdDecompressSync(readFileSync(path)).toString('utf8').split('\n')
  const head = JSON.parse(`${(lines[0] ?? '').replace(/,$/, '')}}`)
  if (head.format !== 1) throw new Error(`${path}: format ${head.format}`)
  return {
    chainId: head.chainId,
    defaultGasLimit: head.defaultGasLimit,
    *sequences(): Iterable<VectorSequence> {
      for (const line of lines.slice(1)) {
        if (!isLine(line)) continue
        const written = JSON.parse(line.replace(/,$/, '')) as Written
        const pre = typeof written.pre === 'string' ? head.pre[written.pre] : written.pre
        const { activationAdmin, ...rest } = written
        yield { ...rest, pre, ...(activationAdmin !== null && { activationAdmin }) }
      }
    },
  }
}

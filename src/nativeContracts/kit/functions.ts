import { concatBytes } from '#lib/bytes'
import { keccak256Text } from '#lib/keccak'
import type { NativeRules } from '../rules.ts'
import { type Param, paramsOf, signatureOf } from './abi.ts'
import { Args, type ArgsLayout, type CallData, layoutOf } from './args.ts'
import { decodeText, tooShortText } from './decodeText.ts'
import { type NativeRevert, revert } from './ends.ts'

/** A function of a native contract: runs in a frame `F` and returns its output. */
export type NativeFunction<F> = {
  readonly selector: number
  readonly params: readonly Param[]
  readonly layout: ArgsLayout
  readonly run: (frame: F, args: Args) => Uint8Array
}

/** Declares a function. @param declaration such as `transfer(address,uint256)`, with `enum<N>` for enums */
export function nativeFunction<F>(declaration: string, run: (frame: F, args: Args) => Uint8Array): NativeFunction<F> {
  const params = paramsOf(declaration)
  return { selector: selectorAt(keccak256Text(signatureOf(declaration)), 0), params, layout: layoutOf(params), run }
}

/** Returns the first four bytes as a number. */
export function selectorAt(bytes: Uint8Array, at: number): number {
  return (
    (((bytes[at] as number) << 24) | ((bytes[at + 1] as number) << 16) | ((bytes[at + 2] as number) << 8) | (bytes[at + 3] as number)) >>> 0
  )
}

const noSelector = new Uint8Array(4)

/** The functions of a contract by selector. Of two functions with one selector the first is called. */
export class FunctionTable<F> {
  readonly #bySelector = new Map<number, NativeFunction<F>>()
  readonly #rules: NativeRules
  readonly #name: string
  readonly #leastBytes: number
  /** The function of the last call: many calls in a row are transfers. */
  #last: NativeFunction<F> | undefined

  /**
   * @param name of the interface, for the texts of V1
   * @param leastBytes smallest arguments that V1 decodes at all
   */
  constructor(rules: NativeRules, name: string, leastBytes: number, functions: readonly NativeFunction<F>[]) {
    this.#rules = rules
    this.#name = name
    this.#leastBytes = leastBytes
    for (const each of functions) if (!this.#bySelector.has(each.selector)) this.#bySelector.set(each.selector, each)
  }

  /** Returns the function that the call data select. @throws NativeRevert for an unknown selector */
  #select({ bytes, start, end }: CallData): NativeFunction<F> {
    if (end - start < 4) throw revert(noSelector, 'undecodable')
    const selector = selectorAt(bytes, start)
    if (this.#last?.selector === selector) return this.#last
    const found = this.#bySelector.get(selector)
    if (!found) throw revert(bytes.slice(start, start + 4), 'undecodable')
    this.#last = found
    return found
  }

  /** Decodes the arguments of the function. @throws NativeRevert when they are malformed */
  #decode(found: NativeFunction<F>, data: CallData): Args {
    if (this.#rules.explainsMalformedArguments && data.end - data.start < 4 + this.#leastBytes) {
      const all = data.bytes.slice(data.start, data.end)
      throw revert(concatBytes(all.subarray(0, 4), tooShortText(this.#name, all)), 'undecodable')
    }
    const args = new Args(found.params, data, data.start + 4, found.layout)
    if (args.failure !== undefined) throw malformed(this.#rules, data, found.params, args)
    return args
  }

  /** Selects, decodes and runs a function. */
  call(frame: F, data: CallData): Uint8Array {
    const found = this.#select(data)
    return found.run(frame, this.#decode(found, data))
  }
}

/** Returns the revert for arguments that do not decode. @param data call data with the selector @param structName as in `decodeText` */
export function malformed(rules: NativeRules, data: CallData, params: readonly Param[], args: Args, structName?: string): NativeRevert {
  const selector = data.bytes.slice(data.start, data.start + 4)
  if (!rules.explainsMalformedArguments || args.failure === undefined) return revert(selector, 'undecodable')
  return revert(concatBytes(selector, decodeText(args.failure, params, args, structName)), 'undecodable')
}

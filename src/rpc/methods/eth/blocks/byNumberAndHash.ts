import { type BlockParam, blockNumberOrTag } from '../../../codecs/blockId.ts'
import { hash } from '../../../codecs/values.ts'
import type { EthContext } from '../../../context.ts'
import type { Json } from '../../../json.ts'
import { type Method, type MethodSpec, type Param, param, type Values } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { ofHash } from '../atBlock.ts'

type BlockRead<P extends readonly Param<unknown>[], R> = Pick<MethodSpec<EthContext, P, R>, 'result' | 'cost'> & {
  readonly name: (by: 'Number' | 'Hash') => string
  /** @param block `a canonical block`, or `a block, canonical or not` */
  readonly doc: (block: string) => string
  /** parameters after the block, and their values in the example, whose result is null */
  readonly params: P
  readonly example: readonly Json[]
  readonly run: (context: EthContext, at: BlockParam, ...params: Values<P>) => R
}

/** Defines a read of a block as two methods: of a canonical block by its number or tag, and of any block by its hash. */
export function byNumberAndHash<const P extends readonly Param<unknown>[], R>(read: BlockRead<P, R>): readonly Method<EthContext>[] {
  const { name, doc, params, example, result, cost, run } = read
  const define = <T>(by: 'Number' | 'Hash', of: string, block: Param<T>, given: Json, at: (value: T) => BlockParam): Method<EthContext> =>
    ethMethod<readonly Param<unknown>[], R>({
      name: name(by),
      doc: doc(of),
      params: [block, ...params],
      result,
      cost,
      example: { params: [given, ...example], result: null },
      run: (context, value, ...rest) => run(context, at(value as T), ...(rest as Values<P>)),
    })
  return [
    define('Number', 'a canonical block', param('block', blockNumberOrTag), '0xffffff', (at) => at),
    define('Hash', 'a block, canonical or not', param('hash', hash), `0x${'11'.repeat(32)}`, ofHash),
  ]
}

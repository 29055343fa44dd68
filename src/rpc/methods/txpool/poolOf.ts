import type { TransactionPool } from '#types/transactionPool'
import type { EthContext } from '../../context.ts'
import { unsupported } from '../../errors.ts'

/** The pool of this node. @throws RpcError −32004 on a node without one */
export function poolOf({ pool }: Pick<EthContext, 'pool'>): TransactionPool {
  if (pool === undefined) throw unsupported('a transaction pool: this node has none')
  return pool
}

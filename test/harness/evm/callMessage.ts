import type { CallMessage } from '#rpc/callPorts'

/** A message with a megagas that pays nothing and carries nothing. */
export const callMessage = (fields: Pick<CallMessage, 'from' | 'to'> & Partial<CallMessage>): CallMessage => ({
  ...{ value: 0n, data: new Uint8Array(0), gasLimit: 1_000_000n, gasPrice: 0n, accessList: [], authorizationList: [] },
  ...fields,
})

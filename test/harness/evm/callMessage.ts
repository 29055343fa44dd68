import type { CallMessage } from '#rpc/callPorts'

/** Message without value, data and fees, with a gas limit of 1,000,000. */
export const callMessage = (fields: Pick<CallMessage, 'from' | 'to'> & Partial<CallMessage>): CallMessage => ({
  ...{ value: 0n, data: new Uint8Array(0), gasLimit: 1_000_000n, gasPrice: 0n, accessList: [], authorizationList: [] },
  ...fields,
})

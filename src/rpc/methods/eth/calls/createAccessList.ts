import { toQuantity } from '#lib/hex'
import type { ListedCall } from '../../../callPorts.ts'
import { refTo } from '../../../reference/schemas.ts'
import type { ResultCodec } from '../../../registry.ts'
import { ethMethod } from '../../define.ts'
import { prunedStateNow } from '../atBlock.ts'
import { messageParams, planAt } from './callBasis.ts'
import { failureOf } from './callErrors.ts'

type Answer = ListedCall & { readonly error: string | undefined }

const accessListResult: ResultCodec<Answer> = {
  doc: '{accessList, gasUsed, error}: gasUsed is with the list, or without it for a failed message; error is the reason of its failure',
  schema: {
    title: 'access list, and gas with that list',
    type: 'object',
    required: ['accessList', 'gasUsed'],
    properties: { accessList: refTo('AccessList'), gasUsed: refTo('Quantity'), error: { type: 'string' } },
  },
  encode: ({ accessList, measured, error }) => ({
    accessList: accessList.map(({ address, slots }) => ({ address, storageKeys: slots })),
    gasUsed: toQuantity(measured.gasUsed),
    ...(error !== undefined && { error }),
  }),
}

export const createAccessList = ethMethod({
  name: 'eth_createAccessList',
  doc: 'Accounts and slots that a message accesses on the state after a block, except those that are always warm, and its gas with that access list. A failed message has a list too.',
  params: messageParams,
  result: accessListResult,
  cost: 'execution',
  example: { params: [{ to: '0x4200000000000000000000000000000000000015', input: '0x8381f58a' }, 'latest'] },
  run(context, request, at, state, environment): Answer {
    const overrides = { state, block: environment }
    const { block, message } = planAt(context, request, at, overrides)
    const listed = context.calls.list(block, message, context.executor.timer(), overrides)
    if (listed === undefined) throw prunedStateNow(context)
    return { ...listed, error: failureOf(listed.measured.outcome, message) }
  },
})

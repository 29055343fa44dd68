import { features } from '#devnet/b20/names'
import { createPolicy, updateMembers } from '#devnet/b20/policy'
import { setPolicy } from '#devnet/b20/token'
import { parseAddress } from '#types/ids'
import type { Command } from '../command.ts'
import { activated, senderFlags, senderOf, sentFacts } from '../devnet/sender.ts'
import { cliFault } from '../faults.ts'
import type { FlagName } from '../flags.ts'
import { printResult } from '../output.ts'
import { needed, readFlags } from '../readFlags.ts'

const creating = ['type', 'account', ...senderFlags] as const satisfies readonly FlagName[]

const create: Command = {
  name: 'create',
  doc: 'create a policy whose admin is the sender; activates the feature first, as for a token',
  flags: creating,
  async run(io, raw): Promise<number> {
    const given = readFlags(creating, raw, io.env)
    const type = needed('type', given.type)
    const members = (given.account ?? []).map(parseAddress)
    const sender = await senderOf(io, given)
    const activation = await activated(sender, features.policy)
    const { id, receipt } = await createPolicy(sender.devnet, sender.account, type, members)
    const facts = { id: id.toString(), type, admin: sender.account.address, members: members.length }
    printResult(io, given.json, { ...activation, ...facts, ...sentFacts(receipt) })
    return 0
  },
}

const setting = ['token', 'scope', 'id', ...senderFlags] as const satisfies readonly FlagName[]

const set: Command = {
  name: 'set',
  doc: 'apply a policy to the senders, receivers, executors or mint receivers of a token; the sender must be its admin',
  flags: setting,
  async run(io, raw): Promise<number> {
    const given = readFlags(setting, raw, io.env)
    const [token, scope, id] = [needed('token', given.token), needed('scope', given.scope), needed('id', given.id)]
    const { devnet, account } = await senderOf(io, given)
    const receipt = await setPolicy(devnet, account, parseAddress(token), scope, id)
    printResult(io, given.json, { token, scope, id: id.toString(), ...sentFacts(receipt) })
    return 0
  },
}

const changing = ['id', 'account', ...senderFlags] as const satisfies readonly FlagName[]

const change = (name: string, doc: string, isMember: boolean): Command => ({
  name,
  doc,
  flags: changing,
  async run(io, raw): Promise<number> {
    const given = readFlags(changing, raw, io.env)
    const [id, members] = [needed('id', given.id), needed('account', given.account).map(parseAddress)]
    const { devnet, account } = await senderOf(io, given)
    const receipt = await updateMembers(devnet, account, id, { isMember, members })
    printResult(io, given.json, { id: id.toString(), members: members.length, ...sentFacts(receipt) })
    return 0
  },
})

export const policy: Command = {
  name: 'policy',
  doc: 'create policies, change their members, and apply them to a token',
  flags: [],
  commands: [
    create,
    set,
    change('add', 'add members to a policy; the sender must be its admin', true),
    change('remove', 'remove members of a policy; the sender must be its admin', false),
  ],
  run: () => Promise.reject(cliFault('BAD_USAGE', { problem: 'basalt devnet b20 policy needs a command: create, set, add or remove' })),
}

"""test/snapshots/crashes.py - the server is killed before each sync of what it does, and then the power fails."""
import http.client
import os
import random

from account import Account, Refused
from target import Target

LOST = (Refused, http.client.HTTPException, OSError)


def fill(account):
    """(what there was when `clean` was made, what there is now)"""
    account.database("shop")
    account.container("dbs/shop/colls/orders")
    for n in range(20):
        account.put("dbs/shop/colls/orders", {"id": str(n), "pk": str(n % 3), "n": n})
    account.snapshot("clean")
    account.snapshot("shop", database="shop")
    clean = account.all()
    account.delete("dbs/shop/colls/orders", "0", "0")
    account.put("dbs/shop/colls/orders", {"id": "1", "pk": "1", "n": 100})
    account.put("dbs/shop/colls/orders", {"id": "new", "pk": "1", "n": 101})
    account.container("dbs/shop/colls/extra")
    account.put("dbs/shop/colls/extra", {"id": "new", "pk": "1", "n": 1})
    return clean, account.all()


def killed_before(target, nth, work):
    """Whether the server was killed before it had done so many syncs of the work."""
    account = Account(target)
    target.disk.kill_before_sync(nth)
    try:
        work(account)
    except LOST:
        target.process.wait()
        return True
    finally:
        account.close()
        target.disk.kill_before_sync(0)
    return False


def start_again(target, seed):
    target.kill()
    target.disk.cut(random.Random(seed))
    target.start()
    return Account(target)


def every_sync(build, work, judge, step=1):
    """Kills it before the first sync of the work, then before the next one, until the work is done. The last one's number."""
    for nth in range(1, 200, step):
        with Target(build) as target:
            clean, now = fill(Account(target))
            token = Account(target).put("dbs/shop/colls/orders", {"id": "last", "pk": "1", "n": 102})[1]["x-ms-session-token"]
            now = Account(target).all()
            was_killed = killed_before(target, nth, work)
            account = start_again(target, nth)
            assert not [name for name in os.listdir(target.data) if name.startswith("store.") or name == "STORE"]
            found = account.all()
            judge(account, found, clean, now, was_killed)
            account.get("dbs/shop/colls/orders", "5", "2", token)  # which neither moment may refuse
            assert target.stop() == 0
            status, said = target.check()
            assert status == 0, said
        if not was_killed:
            return nth
    raise AssertionError("it never ends")


def judge_restore(account, found, clean, now, was_killed):
    assert found in ((clean, now) if was_killed else (clean,)), "neither before nor after: %s" % found
    account.restore("clean")
    assert account.all() == clean


def judge_snapshot(account, found, clean, now, was_killed):
    assert found == now, "a snapshot changed something: %s" % found
    there = account.snapshots()
    before, after = ["clean", "shop"], ["clean", "second", "shop"]
    assert there in (before, after) if was_killed else there == after, there
    if "second" not in there:
        account.snapshot("second")
        now = account.all()
    account.restore("clean")
    account.restore("second")
    assert account.all() == now


def a_crash_in_a_restore_leaves_what_was_before_or_what_was_restored(build):
    times = every_sync(build, lambda account: account.restore("clean"), judge_restore)
    assert times > 5, "it was killed only %d times" % times


def a_crash_while_a_snapshot_is_made_leaves_no_half_of_one(build):
    times = every_sync(build, lambda account: account.snapshot("second"), judge_snapshot, 3)
    assert times > 3, "it was killed only %d times" % times


def judge_database(account, found, clean, now, was_killed):
    def plain(all_):
        return {link: {name: value for name, value in one.items() if name[0] != "_"} if isinstance(one, dict) else one
                for link, one in all_.items() if not link.startswith("offers/")}

    assert plain(found) in ((plain(clean), plain(now)) if was_killed else (plain(clean),)), "neither before nor after: %s" % found
    account.restore("shop")
    assert plain(account.all()) == plain(clean)


def a_crash_in_a_restore_of_one_database_leaves_it_whole(build):
    times = every_sync(build, lambda account: account.restore("shop"), judge_database, 3)
    assert times > 5, "it was killed only %d times" % times

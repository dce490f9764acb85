/* client/manager_follow.c - a resolver that looks at the manager's arrangement now and then, and goes by it. */
#include <pthread.h>
#include <stdlib.h>

#include "manager.h"

struct follower {
    pthread_mutex_t lock;
    struct manager_settings settings;
    orrery_resolver *resolver; /* NULL: nothing was read yet */
    int64_t read_ms, grace_ms;
};

/*
 * The arrangement that it goes by was asked for at most refresh_ms ago: the manager relies on that, and so the time counts
 * from the request, and not from the answer. A write that goes by it ends within the manager's grace, or is out of time.
 */
static orrery_status refresh(struct follower *follower)
{
    const struct remote *remote = &follower->settings.remote;
    int64_t now_ms = remote->calls->now_ms(remote->self);
    struct arrangement arrangement = { .phase = PHASE_STABLE };
    orrery_resolver *resolver = NULL;
    int64_t grace_ms;
    orrery_status status;

    if (follower->resolver && now_ms - follower->read_ms < follower->settings.refresh_ms &&
        now_ms - follower->read_ms < follower->grace_ms && /* the manager's, which may be less than it */
        now_ms >= follower->read_ms)
        return ORRERY_OK;
    status = arrangement_read(&arrangement, &follower->settings);
    if (status == ORRERY_OK)
        status = arrangement_resolver(&arrangement, &follower->settings, &resolver);
    grace_ms = arrangement.grace_ms;
    arrangement_free(&arrangement);
    if (status != ORRERY_OK)
        return status;
    orrery_resolver_unref(follower->resolver);
    follower->resolver = resolver;
    follower->read_ms = now_ms;
    follower->grace_ms = grace_ms;
    return ORRERY_OK;
}

/* The resolver of now, with a reference for whoever asks. */
static orrery_status current(struct follower *follower, orrery_resolver **resolver)
{
    const struct remote *remote = &follower->settings.remote;
    orrery_status status;

    pthread_mutex_lock(&follower->lock);
    status = refresh(follower);
    *resolver = status == ORRERY_OK ? orrery_resolver_ref(follower->resolver) : NULL;
    if (status == ORRERY_OK)
        remote->calls->bound(remote->self,
                             follower->read_ms + follower->grace_ms - remote->calls->now_ms(remote->self));
    pthread_mutex_unlock(&follower->lock);
    return status;
}

static orrery_status follow_key(void *self, orrery_value document, orrery_held_key *key)
{
    struct follower *follower = self;

    return extractor_run(&follower->settings.extractor, document, key);
}

static orrery_status follow_create(void *self, const orrery_key *key, orrery_links *links)
{
    orrery_resolver *resolver;
    orrery_status status = current(self, &resolver);

    if (status == ORRERY_OK)
        status = resolver->calls.for_create(resolver->self, key, links);
    orrery_resolver_unref(resolver);
    return status;
}

static orrery_status follow_read(void *self, const orrery_key *key, orrery_links *links)
{
    orrery_resolver *resolver;
    orrery_status status = current(self, &resolver);

    if (status == ORRERY_OK)
        status = resolver->calls.for_read(resolver->self, key, links);
    orrery_resolver_unref(resolver);
    return status;
}

static orrery_status follow_save(void *self, char **json)
{
    orrery_resolver *resolver;
    orrery_status status = current(self, &resolver);

    if (status == ORRERY_OK)
        status = orrery_resolver_save(resolver, json);
    orrery_resolver_unref(resolver);
    return status;
}

static void follow_destroy(void *self)
{
    struct follower *follower = self;

    pthread_mutex_destroy(&follower->lock);
    orrery_resolver_unref(follower->resolver);
    settings_free(&follower->settings);
    allocator_free(follower);
}

static const orrery_resolver_vtbl follow_calls = {
    .size = sizeof(follow_calls), follow_key, follow_create, follow_read, follow_save, follow_destroy
};

orrery_status follow_with(struct remote remote, const char *database_link,
                          const orrery_manager_options *options, orrery_resolver **resolver)
{
    struct follower *made = allocator_zeroed(1, sizeof(*made));
    orrery_status status;

    *resolver = NULL;
    if (!made)
        return ORRERY_ENOMEM;
    pthread_mutex_init(&made->lock, NULL);
    status = settings_init(&made->settings, remote, database_link, options);
    if (status == ORRERY_OK)
        status = refresh(made);
    if (status == ORRERY_OK)
        status = orrery_resolver_custom(&follow_calls, made, resolver);
    if (status != ORRERY_OK)
        follow_destroy(made);
    return status;
}

orrery_status orrery_resolver_follow(orrery_client *client, const char *database_link,
                                     const orrery_manager_options *options, orrery_resolver **resolver)
{
    if (!resolver)
        return ORRERY_EINVAL;
    *resolver = NULL;
    return client ? follow_with(remote_of_client(client), database_link, options, resolver) : ORRERY_EINVAL;
}

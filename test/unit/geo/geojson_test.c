/* test/unit/geo/geojson_test.c - the walk over GeoJSON, and what boxes and shapes make of the same object. */
#include "geo/bounds.h"
#include "geo/geojson.h"
#include "rig.h"
#include "test.h"

/* ------- the walk ------- */

struct told {
    char text[128];
    size_t size;
};

static void tell(struct told *told, char what)
{
    REQUIRE(told->size + 1 < sizeof(told->text));
    told->text[told->size++] = what;
    told->text[told->size] = '\0';
}

static void tell_part(void *self)
{
    tell(self, '<');
}

static void tell_ring(void *self, bool hole)
{
    tell(self, hole ? '{' : '[');
}

static bool tell_point(void *self, struct geo_point at)
{
    tell(self, (char)('0' + (int)at.x));
    return at.y >= 0;
}

static void tell_ring_end(void *self)
{
    tell(self, ']');
}

static void tell_part_end(void *self)
{
    tell(self, '>');
}

/* `!` at the end: the walk was not good. */
static const struct {
    const char *object, *all, *outlines;
} walked[] = {
    { "{'type':'Point','coordinates':[1,2,3]}", "<[1]>", "<[1]>" },
    { "{'type':'LineString','coordinates':[[1,0],[2,0]]}", "<[12]>", "<[12]>" },
    { "{'type':'Polygon','coordinates':[[[1,0],[2,0]],[[3,0]],[]]}", "<[12]{3]{]>", "<[12]>" },
    { "{'type':'Polygon','coordinates':[[[1,0]],7]}", "<[1]{!", "<[1]>" },
    { "{'type':'Polygon','coordinates':[]}", "<>", "<>" },
    { "{'type':'MultiPolygon','coordinates':[[[[1,0]],[[2,0]]],[[[3,0]]]]}", "<[1]{2]><[3]>", "<[1]><[3]>" },
    { "{'type':'MultiPolygon','coordinates':[]}", "", "" },
    { "{'type':'MultiPolygon','coordinates':7}", "!", "!" },
    { "{'type':'Point','coordinates':[1]}", "<[!", "<[!" },
    { "{'type':'LineString','coordinates':[[1,0],[2,-1],[3,0]]}", "<[12!", "<[12!" },
    { "{'type':'Point'}", "<[!", "<[!" },
};

static bool tells(const char *text, bool outlines_only, const char *wanted)
{
    struct geojson_visitor visitor = { outlines_only, tell_part,     tell_ring,
                                       tell_point,    tell_ring_end, tell_part_end };
    struct json object = rig_json(test_op(), text);
    struct told told = { 0 };
    enum geojson_kind kind;

    if (!geojson_find_kind(object, &kind) || !geojson_walk(object, kind, &visitor, &told))
        tell(&told, '!');
    if (strcmp(told.text, wanted) == 0)
        return true;
    printf("%s: %s, and not %s\n", text, told.text, wanted);
    return false;
}

TEST(a_walk_tells_parts_rings_and_points_in_the_order_of_the_text)
{
    for (size_t i = 0; i < sizeof(walked) / sizeof(walked[0]); i++) {
        CHECK(tells(walked[i].object, false, walked[i].all));
        CHECK(tells(walked[i].object, true, walked[i].outlines));
    }
}

/* ------- boxes and shapes ------- */

static const struct {
    const char *object;
    bool has_box, is_valid;
} judged[] = {
    { "{'type':'Point','coordinates':[1,2]}", true, true },
    { "{'type':'Polygon','coordinates':[[[0,0],[1,0],[0,1],[0,0]]]}", true, true },
    { "{'type':'Polygon','coordinates':[[[0,0],[1,0],[0,1]]]}", true, false }, /* not closed */
    { "{'type':'LineString','coordinates':[[0,0]]}", true, false },            /* one point is no line */
    { "{'type':'Polygon','coordinates':[[[0,0],[1,0],[0,1],[0,0]],7]}", true, false }, /* what is no hole */
    { "{'type':'Polygon','coordinates':[[[0,0],[1,0],[0,1],[0,0]],[[0,91]]]}", true, false },
    { "{'type':'Polygon','coordinates':[7,[[0,0],[1,0],[0,1],[0,0]]]}", false, false },
    { "{'type':'Point','coordinates':[0,91]}", false, false },
    { "{'type':'Point','coordinates':['0',1]}", false, false },
    { "{'type':'MultiPolygon','coordinates':[]}", false, false }, /* it lies nowhere */
    { "{'type':'Feature','coordinates':[1,2]}", false, false },
    { "{'coordinates':[1,2]}", false, false },
};

static bool judges(const char *text, bool has_box, bool is_valid)
{
    struct json object = rig_json(test_op(), text);
    struct geojson shape;
    struct bounds box;

    if (geojson_read(&test_op()->arena, object, false, &shape) && !shape.reason == is_valid &&
        bounds_of(object, false, &box) == has_box)
        return true;
    printf("%s\n", text);
    return false;
}

TEST(a_box_is_around_some_objects_that_are_no_valid_shapes)
{
    for (size_t i = 0; i < sizeof(judged) / sizeof(judged[0]); i++)
        CHECK(judges(judged[i].object, judged[i].has_box, judged[i].is_valid));
}
